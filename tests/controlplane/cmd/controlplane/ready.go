// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sandboxrun.dev/tests/controlplane/internal/statedir"
)

const (
	probeInterval = 50 * time.Millisecond
	probeTimeout  = 5 * time.Second

	adminUser = "admin"
	// The group that the bootstrap policy binds to cluster-admin whatever else RBAC says.
	adminGroup = "system:masters"

	// The ordinary user: rights of a developer in one namespace, none elsewhere.
	ordinaryUser      = "alice"
	ordinaryGroup     = "developers"
	ordinaryRole      = "edit"
	ordinaryNamespace = "default"
)

// makeReady takes the server from listening to useful, and announces it. The controllers that it
// starts run until ctx ends.
func (p *plane) makeReady(ctx context.Context) error {
	kubeconfigs, err := p.writeKubeconfigs()
	if err != nil {
		return err
	}
	config, err := configFor(kubeconfigs[adminUser])
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	readyCtx, cancel := context.WithTimeoutCause(ctx, p.options.readyTimeout,
		fmt.Errorf("kube-apiserver is not ready after %s", p.options.readyTimeout))
	defer cancel()
	if err := waitFor(readyCtx, func(ctx context.Context) error {
		return probeServer(ctx, client)
	}); err != nil {
		return err
	}
	if err := bindOrdinaryUser(readyCtx, client); err != nil {
		return err
	}
	if p.options.controllers {
		if err := startControllers(ctx, config, p.dir.PKI().CACert()); err != nil {
			return err
		}
		if err := waitFor(readyCtx, func(ctx context.Context) error {
			return probeControllers(ctx, client)
		}); err != nil {
			return err
		}
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	return p.announce(&statedir.Ready{
		PID:               os.Getpid(),
		Server:            p.server(),
		Port:              p.port,
		CAFile:            p.dir.PKI().CACert(),
		Kubeconfigs:       kubeconfigs,
		KubernetesVersion: version.GitVersion,
		StartMilliseconds: time.Since(p.began).Milliseconds(),
	})
}

func (p *plane) writeKubeconfigs() (map[string]string, error) {
	groups := map[string]string{adminUser: adminGroup, ordinaryUser: ordinaryGroup}
	kubeconfigs := map[string]string{}
	for user, group := range groups {
		kubeconfigs[user] = p.dir.Kubeconfig(user)
		if err := writeUserKubeconfig(p.dir, p.server(), user, []string{group},
			kubeconfigs[user]); err != nil {
			return nil, err
		}
	}
	return kubeconfigs, nil
}

func configFor(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "controlplane"
	// The server has its own fairness; waiting in the client would only slow the tests down.
	config.QPS = -1
	return config, nil
}

func waitFor(ctx context.Context, probe func(context.Context) error) error {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
		err := probe(probeCtx)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// probeServer wants more than /readyz: the namespaces are made by a loop that it doesn't know.
func probeServer(ctx context.Context, client kubernetes.Interface) error {
	answer := client.Discovery().RESTClient().Get().AbsPath("/readyz").
		Param("verbose", "true").Do(ctx)
	if err := answer.Error(); err != nil {
		body, _ := answer.Raw()
		return errors.Join(err, errors.New(string(body)))
	}
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem} {
		if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// probeControllers sees that the controllers have done their first work, on which tests rely.
func probeControllers(ctx context.Context, client kubernetes.Interface) error {
	role, err := client.RbacV1().ClusterRoles().Get(ctx, ordinaryRole, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if len(role.Rules) == 0 {
		return fmt.Errorf("ClusterRole %q has not been aggregated", ordinaryRole)
	}
	_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default",
		metav1.GetOptions{})
	return err
}

func bindOrdinaryUser(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.RbacV1().RoleBindings(ordinaryNamespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ordinaryGroup},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ordinaryRole},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: ordinaryGroup}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
