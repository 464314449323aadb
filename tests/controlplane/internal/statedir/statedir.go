// SPDX-License-Identifier: Apache-2.0

// Package statedir knows the layout of a control plane's directory: what is kept between two
// starts (keys, etcd's data, the port), what tells that one is running (the lock, ready.json).
package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"sandboxrun.dev/tests/controlplane/internal/atomicfile"
	"sandboxrun.dev/tests/controlplane/internal/pki"
)

// Dir is the directory of one control plane. It is absolute.
type Dir string

// Ready is the content of ready.json: what a client has to know.
type Ready struct {
	PID               int               `json:"pid"`
	Server            string            `json:"server"`
	Port              int               `json:"port"`
	CAFile            string            `json:"caFile"`
	Kubeconfigs       map[string]string `json:"kubeconfigs"`
	KubernetesVersion string            `json:"kubernetesVersion"`
	StartMilliseconds int64             `json:"startMilliseconds"`
}

// Open makes the directory if it isn't there.
func Open(path string) (Dir, error) {
	if path == "" {
		return "", errors.New("no directory given: use --dir DIR")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(absolute, 0o755); err != nil {
		return "", err
	}
	return Dir(absolute), nil
}

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

// PKI holds keys and certificates.
func (d Dir) PKI() pki.Dir { return pki.Dir(d.path("pki")) }

// Etcd holds etcd's data.
func (d Dir) Etcd() string { return d.path("etcd") }

// EtcdSockets holds the sockets at which etcd serves.
func (d Dir) EtcdSockets() string { return d.path("etcd-sockets") }

// Kubeconfig is where the kubeconfig of a user is written.
func (d Dir) Kubeconfig(user string) string { return d.path("kubeconfig-" + user) }

// AuditPolicy and AuditLog exist when auditing is on.
func (d Dir) AuditPolicy() string { return d.path("audit-policy.yaml") }

// AuditLog has one JSON object per request and stage.
func (d Dir) AuditLog() string { return d.path("audit.log") }

// Lock keeps a second control plane out of the directory. The kernel drops it with the process.
func (d Dir) Lock() (*os.File, error) {
	file, err := os.OpenFile(d.path("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s is in use by another control plane: %w", string(d), err)
	}
	return file, nil
}

// Listen binds, at an IPv4 address, the port asked for, or the port of the last start, or else a
// free one, and remembers it: kubeconfigs stay valid over a restart.
func (d Dir) Listen(host string, port int) (net.Listener, int, error) {
	remembered := port == 0
	if remembered {
		last, err := d.lastPort()
		if err != nil {
			return nil, 0, err
		}
		port = last
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		if remembered && port != 0 {
			err = fmt.Errorf("the port of the last start: %w (give another one with --port)", err)
		}
		return nil, 0, err
	}
	port = listener.Addr().(*net.TCPAddr).Port
	if err := atomicfile.Write(d.path("port"), []byte(strconv.Itoa(port)+"\n"), 0o644); err != nil {
		listener.Close()
		return nil, 0, err
	}
	return listener, port, nil
}

func (d Dir) lastPort() (int, error) {
	data, err := os.ReadFile(d.path("port"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", d.path("port"), err)
	}
	return int(port), nil
}

// WriteReady publishes ready.json; RemoveReady takes it away again.
func (d Dir) WriteReady(ready *Ready) ([]byte, error) {
	data, err := json.MarshalIndent(ready, "", "  ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	return data, atomicfile.Write(d.readyFile(), data, 0o644)
}

// ReadReady returns what a running control plane has published.
func (d Dir) ReadReady() (*Ready, error) {
	data, err := os.ReadFile(d.readyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no control plane is running in %s: start one first", string(d))
	}
	if err != nil {
		return nil, err
	}
	ready := &Ready{}
	if err := json.Unmarshal(data, ready); err != nil {
		return nil, fmt.Errorf("%s: %w", d.readyFile(), err)
	}
	return ready, nil
}

// RemoveReady is called before a start and at an orderly end: what a killed one left must not be
// taken for news.
func (d Dir) RemoveReady() error {
	err := os.Remove(d.readyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d Dir) readyFile() string { return d.path("ready.json") }
