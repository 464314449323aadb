// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"sandboxrun.dev/tests/controlplane/internal/statedir"
)

// stopTimeout bounds an orderly end: etcd's data is safe without one.
const stopTimeout = 10 * time.Second

type startOptions struct {
	dir            string
	port           int
	address        string
	etcdURL        string
	etcd           etcdOptions
	readyFD        int
	readyTimeout   time.Duration
	exitWithStdin  bool
	controllers    bool
	audit          bool
	verbosity      int
	apiServerFlags []string
}

func parseStart(args []string) (*startOptions, error) {
	options := &startOptions{}
	flags := flag.NewFlagSet("controlplane start", flag.ContinueOnError)
	flags.StringVar(&options.dir, "dir", "", "directory of keys, data and kubeconfigs (required)")
	flags.IntVar(&options.port, "port", 0,
		"port on 127.0.0.1; 0 takes the port of the last start, or a free one")
	flags.StringVar(&options.address, "address", "",
		"serve on every address of the network namespace, of which this one is in the certificate")
	flags.StringVar(&options.etcdURL, "etcd", "",
		"URL of an etcd that another process runs (controlplane etcd), instead of an own one")
	options.etcd.addTo(flags)
	flags.IntVar(&options.readyFD, "ready-fd", -1,
		"descriptor that gets the content of ready.json when the server is ready, and is closed")
	flags.DurationVar(&options.readyTimeout, "ready-timeout", time.Minute,
		"give up when the server is not ready after this time")
	flags.BoolVar(&options.exitWithStdin, "exit-with-stdin", false, "stop at the end of stdin")
	flags.BoolVar(&options.controllers, "controllers", true,
		"run the controllers for namespaces, garbage, ClusterRole aggregation, service accounts")
	flags.BoolVar(&options.audit, "audit", false, "write DIR/audit.log, one line per request")
	flags.IntVar(&options.verbosity, "v", 0, "verbosity of the API server's log")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	if options.address != "" && net.ParseIP(options.address) == nil {
		return nil, fmt.Errorf("--address %q is no IP address", options.address)
	}
	options.apiServerFlags = flags.Args()
	return options, nil
}

func start(args []string) error {
	options, err := parseStart(args)
	if err != nil {
		return err
	}
	began := time.Now()

	ctx, stop := untilTold(options.exitWithStdin)
	defer stop()

	dir, err := statedir.Open(options.dir)
	if err != nil {
		return err
	}
	lock, err := dir.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := dir.RemoveReady(); err != nil {
		return err
	}
	host, addresses := "127.0.0.1", servingAddresses
	if options.address != "" {
		host, addresses = "0.0.0.0", append(addresses, net.ParseIP(options.address))
	}
	if err := dir.PKI().Ensure(servingNames, addresses); err != nil {
		return err
	}
	listener, port, err := dir.Listen(host, options.port)
	if err != nil {
		return err
	}
	return serve(ctx, &plane{dir: dir, options: options, listener: listener, port: port,
		began: began})
}

// untilTold gives a context that ends with SIGTERM or SIGINT, and if wanted with the end of stdin.
func untilTold(exitWithStdin bool) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	if exitWithStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	return ctx, stop
}

// plane is what a start has found and made before its parts run.
type plane struct {
	dir      statedir.Dir
	options  *startOptions
	listener net.Listener
	port     int
	began    time.Time
}

func (p *plane) server() string {
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port))
}

// serve runs the parts until ctx ends or one of them fails. The API server has a context of its
// own, since it has to end before etcd, and the controllers before the API server.
func serve(ctx context.Context, p *plane) error {
	etcd := &etcdServer{URL: p.options.etcdURL}
	if etcd.URL == "" {
		var err error
		if etcd, err = startEtcd(ctx, p.dir, &p.options.etcd); err != nil {
			return unlessStopped(ctx, err)
		}
	}
	serverCtx, stopServer := context.WithCancel(context.Background())
	defer stopServer()
	serverDone, err := startAPIServer(serverCtx, p.dir, p.listener, etcd.URL, p.options)
	if err != nil {
		etcd.Stop()
		return err
	}

	partsCtx, stopParts := context.WithCancel(ctx)
	defer stopParts()
	partsFailed := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		if err := p.makeReady(partsCtx); err != nil {
			partsFailed <- err
			return
		}
		close(ready)
	}()

	var failure error
	select {
	case <-ctx.Done():
	case err := <-partsFailed:
		failure = unlessStopped(ctx, err)
	case err := <-serverDone:
		etcd.Stop()
		return fmt.Errorf("kube-apiserver ended by itself: %w", reason(err))
	case err := <-etcd.Err():
		failure = fmt.Errorf("etcd ended by itself: %w", reason(err))
	}

	// What is not ready can't be stopped in order: the start hooks of kube-apiserver take the end of
	// its context, or of etcd, for a failure and exit with 255. We just end, and etcd's data is safe.
	select {
	case <-ready:
	default:
		os.Exit(report("start", failure))
	}
	_ = p.dir.RemoveReady()
	stopParts()
	stopServer()
	select {
	case err := <-serverDone:
		failure = errors.Join(failure, err)
	case <-time.After(stopTimeout):
		failure = errors.Join(failure, fmt.Errorf("kube-apiserver has not ended within %s",
			stopTimeout))
	}
	etcd.Stop()
	return failure
}

// unlessStopped drops an error that only says that we were told to stop.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func reason(err error) error {
	if err == nil {
		return errors.New("no reason given")
	}
	return err
}

// announce publishes that the server is ready, in the file first: whoever is woken by the
// descriptor may read the file.
func (p *plane) announce(ready *statedir.Ready) error {
	content, err := p.dir.WriteReady(ready)
	if err != nil {
		return err
	}
	return tell(p.options.readyFD, content)
}

// tell writes to whoever waits at the descriptor, if there is one, and closes it.
func tell(readyFD int, content []byte) error {
	if readyFD < 0 {
		return nil
	}
	file := os.NewFile(uintptr(readyFD), "ready-fd")
	if file == nil {
		return fmt.Errorf("--ready-fd %d is no descriptor", readyFD)
	}
	_, err := file.Write(content)
	return errors.Join(err, file.Close())
}
