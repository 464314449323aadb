// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	mergePatch     = "application/merge-patch+json"
	metadataOnly   = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	requestTimeout = 60 * time.Second
	// retryAfter is what the server says with a 429.
	retryAfter = time.Second
)

// refused counts the answers 429 of all clients.
var refused atomic.Int64

// client is one user of the API server on a connection of its own, HTTP/2.
type client struct {
	server string
	token  string
	tls    *tls.Config
	http   *http.Client
}

func newClient(kubeconfig string) (*client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	c := &client{server: config.Host, token: config.BearerToken, tls: tlsConfig}
	c.connect()
	return c, nil
}

// connect gives the client a transport, and with it a connection, that nobody else uses.
func (c *client) connect() {
	c.http = &http.Client{Transport: &http.Transport{
		TLSClientConfig:    c.tls.Clone(),
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}}
}

// as is another user of the same server: by a token, without the client certificate.
func (c *client) as(token string) *client {
	other := &client{server: c.server, token: token, tls: c.tls.Clone()}
	other.tls.Certificates = nil
	other.tls.GetClientCertificate = nil
	other.connect()
	return other
}

// sharing is the user token on the connections of c.
func (c *client) sharing(token string) *client {
	return &client{server: c.server, token: token, http: c.http}
}

// statusError is an answer that isn't 2xx.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

func isStatus(err error, code int) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == code
}

func (c *client) open(ctx context.Context, method, path, contentType, accept string,
	body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	response.Body.Close()
	return nil, &statusError{response.StatusCode, fmt.Sprintf("%s %s: %d: %s", method, path,
		response.StatusCode, text)}
}

// do sends a request, again after a while if the server has too much to do; result, if not nil, is
// decoded from the answer.
func (c *client) do(ctx context.Context, method, path, contentType string, body []byte,
	result any) error {
	for {
		err := c.try(ctx, method, path, contentType, body, result)
		if !isStatus(err, http.StatusTooManyRequests) {
			return err
		}
		refused.Add(1)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryAfter/2 + rand.N(retryAfter)):
		}
	}
}

func (c *client) try(ctx context.Context, method, path, contentType string, body []byte,
	result any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	accept := "application/json"
	if contentType == mergePatch {
		// As controller and agents do: they want to know whether it was taken.
		accept = metadataOnly
	}
	response, err := c.open(ctx, method, path, contentType, accept, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(content, result)
}

func (c *client) get(ctx context.Context, path string, result any) error {
	return c.do(ctx, http.MethodGet, path, "", nil, result)
}

func (c *client) post(ctx context.Context, path string, object, result any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, "application/json", body, result)
}

func (c *client) patch(ctx context.Context, path string, patch, result any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPatch, path, mergePatch, body, result)
}

func (c *client) delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path, "", nil, nil)
}

// metadataAnswer is an object of which only the version matters.
type metadataAnswer struct {
	Metadata struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

type watchEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watch calls opened when the server has begun to answer, and take for each event until ctx or the
// stream ends. nil for a stream that the server has ended.
func (c *client) watch(ctx context.Context, path string, opened func(),
	take func(watchEvent) error) error {
	response, err := c.open(ctx, http.MethodGet, path, "", "application/json", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	opened()

	decoder := json.NewDecoder(response.Body)
	for {
		var event watchEvent
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if event.Type == "ERROR" {
			return fmt.Errorf("watch %s: %s", path, event.Object)
		}
		if err := take(event); err != nil {
			return err
		}
	}
}
