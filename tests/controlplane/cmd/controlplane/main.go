// SPDX-License-Identifier: Apache-2.0

// controlplane runs a real Kubernetes API server for tests, and makes kubeconfigs for it.
//
// `controlplane start` is one process with four parts, started in this order and stopped in the
// reverse one:
//
//   - etcd, embedded, on a Unix socket in a directory for its owner only: nobody else on the
//     machine reaches the data past the API server. With --etcd it is another process's, and this
//     one outlives its end;
//   - kube-apiserver, on 127.0.0.1 (with --address on every address) with TLS, RBAC, service
//     account tokens and the default admission plugins;
//   - the controllers of kube-controller-manager without which an API server alone behaves
//     unlike a cluster: aggregation of ClusterRoles, deletion of namespaces, garbage collection by
//     owner, default service accounts and the root CA's ConfigMap. There is no kubelet and no
//     scheduler: a Pod is an object and nothing more;
//   - a probe, which publishes ready.json when /readyz answers ok.
//
// Everything that has to survive lies in the directory given by --dir (package statedir): after
// `kill -9` a start on the same directory serves the same objects on the same port to the same
// kubeconfigs. If one part fails the process ends, with an exit status of 1 and the reason on
// stderr. SIGTERM and SIGINT end it in order; with --exit-with-stdin so does the end of its
// standard input, which comes when the program that started it dies.
//
// `controlplane etcd` is that etcd alone, for tests that end it by itself or cut it off: it listens at
// an address, without TLS, so it belongs into a network namespace of the test's own.
//
// `controlplane kubeconfig` speaks to a running one as its administrator.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

const usage = `Usage:
  controlplane start --dir DIR [FLAGS] [-- KUBE-APISERVER-FLAGS]
  controlplane etcd --dir DIR --listen URL [FLAGS]
  controlplane kubeconfig --dir DIR (--service-account NS/NAME | --user NAME) --out FILE [FLAGS]

Use "controlplane COMMAND --help" for the flags of a command.
`

// errUsage has been explained already, by the flag package.
var errUsage = errors.New("wrong usage")

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	var err error
	switch args[0] {
	case "start":
		err = start(args[1:])
	case "etcd":
		err = etcdAlone(args[1:])
	case "kubeconfig":
		err = kubeconfig(args[1:])
	case "help", "--help", "-h":
		fmt.Print(usage)
		return 0
	default:
		fmt.Fprintf(os.Stderr, "controlplane: unknown command %q\n%s", args[0], usage)
		return 2
	}
	return report(args[0], err)
}

// report says what went wrong and returns the exit status for it.
func report(command string, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	default:
		fmt.Fprintf(os.Stderr, "controlplane %s: %v\n", command, err)
		return 1
	}
}

// parse leaves what is no flag in flags.Args.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return errUsage
}
