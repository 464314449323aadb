// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"sandboxrun.dev/tests/controlplane/internal/atomicfile"
	"sandboxrun.dev/tests/controlplane/internal/statedir"
)

// requestTimeout bounds the whole work of the command.
const requestTimeout = 30 * time.Second

type kubeconfigOptions struct {
	dir            string
	serviceAccount string
	node           string
	duration       time.Duration
	tokenFile      string
	inClusterDir   string
	user           string
	groups         []string
	out            string
}

func parseKubeconfig(args []string) (*kubeconfigOptions, error) {
	options := &kubeconfigOptions{}
	flags := flag.NewFlagSet("controlplane kubeconfig", flag.ContinueOnError)
	flags.StringVar(&options.dir, "dir", "", "directory of a running control plane (required)")
	flags.StringVar(&options.out, "out", "", "kubeconfig to write")
	flags.StringVar(&options.serviceAccount, "service-account", "",
		"service account NAMESPACE/NAME, by a token that the API server issues")
	flags.StringVar(&options.node, "node", "",
		"bind the token to a Pod on this Node, so that it carries both names;\n"+
			"Node and Pod are made if they aren't there")
	flags.DurationVar(&options.duration, "duration", time.Hour,
		"lifetime of the token, 10 minutes at least")
	flags.StringVar(&options.tokenFile, "token-file", "",
		"write the token there and refer to it from the kubeconfig")
	flags.StringVar(&options.inClusterDir, "in-cluster-dir", "",
		"write token, ca.crt and namespace there, as they are mounted into a Pod")
	flags.StringVar(&options.user, "user", "", "user, by a new client certificate")
	flags.Func("group", "group of --user; may be repeated", func(group string) error {
		options.groups = append(options.groups, group)
		return nil
	})
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	return options, options.check(flags.Args())
}

func (o *kubeconfigOptions) check(rest []string) error {
	switch {
	case len(rest) != 0:
		return fmt.Errorf("unexpected arguments %q", rest)
	case (o.serviceAccount == "") == (o.user == ""):
		return errors.New("give one of --service-account and --user")
	case o.user != "" && (o.node != "" || o.tokenFile != "" || o.inClusterDir != ""):
		return errors.New("--node, --token-file and --in-cluster-dir need --service-account")
	case o.user == "" && len(o.groups) != 0:
		return errors.New("--group needs --user")
	case o.out == "" && o.inClusterDir == "":
		return errors.New("nothing to write: give --out FILE")
	case o.out == "" && o.tokenFile != "":
		return errors.New("--token-file needs --out")
	}
	return nil
}

func kubeconfig(args []string) error {
	options, err := parseKubeconfig(args)
	if err != nil {
		return err
	}
	dir, err := statedir.Open(options.dir)
	if err != nil {
		return err
	}
	ready, err := dir.ReadReady()
	if err != nil {
		return err
	}
	if options.user != "" {
		return writeUserKubeconfig(dir, ready.Server, options.user, options.groups, options.out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	return serviceAccountKubeconfig(ctx, dir, ready, options)
}

func serviceAccountKubeconfig(ctx context.Context, dir statedir.Dir, ready *statedir.Ready,
	options *kubeconfigOptions) error {
	namespace, name, found := strings.Cut(options.serviceAccount, "/")
	if !found || namespace == "" || name == "" {
		return fmt.Errorf("--service-account %q is not NAMESPACE/NAME", options.serviceAccount)
	}
	config, err := configFor(ready.Kubeconfigs[adminUser])
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	token, err := requestToken(ctx, client, tokenRequest{namespace: namespace, account: name,
		node: options.node, duration: options.duration})
	if err != nil {
		return err
	}
	if options.inClusterDir != "" {
		if err := writeInCluster(dir, options.inClusterDir, namespace, token); err != nil {
			return err
		}
	}
	if options.out == "" {
		return nil
	}
	user := &clientcmdapi.AuthInfo{Token: token}
	if options.tokenFile != "" {
		path, err := filepath.Abs(options.tokenFile)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(path, []byte(token), 0o600); err != nil {
			return err
		}
		user = &clientcmdapi.AuthInfo{TokenFile: path}
	}
	return writeKubeconfig(dir, ready.Server, name, namespace, user, options.out)
}

// writeInCluster writes the three files that a Pod finds below
// /var/run/secrets/kubernetes.io/serviceaccount.
func writeInCluster(dir statedir.Dir, target, namespace, token string) error {
	ca, err := os.ReadFile(dir.PKI().CACert())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	files := []struct {
		name    string
		content []byte
	}{
		{"token", []byte(token)},
		{"ca.crt", ca},
		{"namespace", []byte(namespace)},
	}
	for _, file := range files {
		path := filepath.Join(target, file.name)
		if err := atomicfile.Write(path, file.content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func writeUserKubeconfig(dir statedir.Dir, server, user string, groups []string,
	path string) error {
	certificate, key, err := dir.PKI().Client(user, groups)
	if err != nil {
		return err
	}
	return writeKubeconfig(dir, server, user, "default", &clientcmdapi.AuthInfo{
		ClientCertificateData: certificate,
		ClientKeyData:         key,
	}, path)
}

// writeKubeconfig puts certificates into the file, as kubeadm does: it can be copied anywhere.
func writeKubeconfig(dir statedir.Dir, server, name, namespace string, user *clientcmdapi.AuthInfo,
	path string) error {
	ca, err := os.ReadFile(dir.PKI().CACert())
	if err != nil {
		return err
	}
	const cluster = "controlplane"
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[name] = user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: name,
		Namespace: namespace}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, content, 0o600)
}
