// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"sandboxrun.dev/tests/controlplane/internal/statedir"
)

const (
	serviceAccountIssuer = "https://kubernetes.default.svc.cluster.local"
	serviceRange         = "10.96.0.0/16"
)

var (
	servingNames = []string{"localhost", "kubernetes", "kubernetes.default",
		"kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	// 10.96.0.1 is the address of the Service `kubernetes` in serviceRange.
	servingAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 96, 0, 1)}
)

// auditPolicy records who did what to which object, once per request, and leaves out the API
// server's own requests.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: ["system:apiserver"]
- level: Metadata
`

// apiServerFlags are those that kubeadm would set, as far as they mean something without kubelets.
func apiServerFlags(dir statedir.Dir, etcdURL string, options *startOptions) []string {
	keys := dir.PKI()
	flags := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		// There is no use for endpoints on loopback, and the API refuses them.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceRange,
		"--tls-cert-file=" + keys.ServingCert(),
		"--tls-private-key-file=" + keys.ServingKey(),
		"--client-ca-file=" + keys.CACert(),
		"--service-account-issuer=" + serviceAccountIssuer,
		"--service-account-key-file=" + keys.ServiceAccountKey(),
		"--service-account-signing-key-file=" + keys.ServiceAccountKey(),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--v=" + strconv.Itoa(options.verbosity),
	}
	if options.audit {
		flags = append(flags, "--audit-policy-file="+dir.AuditPolicy(),
			"--audit-log-path="+dir.AuditLog())
	}
	return append(flags, options.apiServerFlags...)
}

// prepareAPIServer does everything short of serving, so that a wrong flag is an error at once.
func prepareAPIServer(ctx context.Context, listener net.Listener, flags []string) (
	apiserveroptions.CompletedOptions, error) {
	var none apiserveroptions.CompletedOptions

	server := apiserveroptions.NewServerRunOptions()
	flagSet := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	flagSet.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flagSet.Usage = func() {}
	for _, named := range server.Flags().FlagSets {
		flagSet.AddFlagSet(named)
	}
	if err := flagSet.Parse(flags); err != nil {
		return none, err
	}
	if flagSet.NArg() != 0 {
		return none, fmt.Errorf("not a flag of kube-apiserver: %q", flagSet.Args())
	}
	server.SecureServing.Listener = listener
	server.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port

	if err := server.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return none, err
	}
	logs.InitLogs()
	if err := logsapi.ValidateAndApply(server.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return none, err
	}
	// The server warns itself, through its own client, of each old API that it still serves.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})

	completed, err := server.Complete(ctx)
	if err != nil {
		return none, err
	}
	return completed, utilerrors.NewAggregate(completed.Validate())
}

// startAPIServer serves until ctx ends; the channel then has the outcome.
func startAPIServer(ctx context.Context, dir statedir.Dir, listener net.Listener, etcdURL string,
	options *startOptions) (<-chan error, error) {
	if options.audit {
		if err := os.WriteFile(dir.AuditPolicy(), []byte(auditPolicy), 0o644); err != nil {
			return nil, err
		}
	}
	completed, err := prepareAPIServer(ctx, listener, apiServerFlags(dir, etcdURL, options))
	if err != nil {
		return nil, fmt.Errorf("kube-apiserver: %w", err)
	}
	done := make(chan error, 1)
	go func() {
		defer logs.FlushLogs()
		done <- app.Run(ctx, completed)
	}()
	return done, nil
}
