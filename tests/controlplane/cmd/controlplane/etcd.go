// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"sandboxrun.dev/tests/controlplane/internal/statedir"
)

const (
	// One member waits for nobody: its election may be as short as etcd permits.
	etcdTickMilliseconds     = 10
	etcdElectionMilliseconds = 100
)

// etcdOptions are those of an etcd of ours, in the API server's process or in its own.
type etcdOptions struct {
	listen     string // "": on a Unix socket
	fsync      bool
	quotaBytes int64
}

func (o *etcdOptions) addTo(flags *flag.FlagSet) {
	flags.BoolVar(&o.fsync, "fsync", false,
		"let etcd wait for the disk: for tests of a crash of the whole machine, and slow")
	flags.Int64Var(&o.quotaBytes, "etcd-quota-bytes", 0,
		"size at which etcd refuses writes; 0 is etcd's default of 2 GiB")
}

// etcdServer is one of ours, or stands for that of another process: then only URL is set.
type etcdServer struct {
	etcd     *embed.Etcd
	logLevel zap.AtomicLevel
	sockets  *os.File
	URL      string
}

// startEtcd returns when etcd serves.
func startEtcd(ctx context.Context, dir statedir.Dir, options *etcdOptions) (*etcdServer, error) {
	server := &etcdServer{}
	if err := server.start(ctx, dir, options); err != nil {
		server.Stop()
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return server, nil
}

func (s *etcdServer) start(ctx context.Context, dir statedir.Dir, options *etcdOptions) error {
	config, err := s.configure(dir, options)
	if err != nil {
		return err
	}
	if s.etcd, err = embed.StartEtcd(config); err != nil {
		return err
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err := <-s.etcd.Err():
		return err
	case <-s.etcd.Server.StopNotify():
		return errors.New("stopped before it was ready")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *etcdServer) configure(dir statedir.Dir, options *etcdOptions) (*embed.Config, error) {
	if err := os.MkdirAll(dir.EtcdSockets(), 0o700); err != nil {
		return nil, err
	}
	// The address of a Unix socket holds 107 bytes, and the directory of a test may be longer: we
	// go through a descriptor.
	var err error
	if s.sockets, err = os.Open(dir.EtcdSockets()); err != nil {
		return nil, err
	}
	through := fmt.Sprintf("/proc/self/fd/%d", s.sockets.Fd())
	client := &url.URL{Scheme: "unix", Path: filepath.Join(through, "client")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(through, "peer")}
	if options.listen != "" {
		if client, err = url.Parse(options.listen); err != nil {
			return nil, err
		}
	}
	s.URL = client.String()

	logging := zap.NewProductionConfig()
	logging.Level.SetLevel(zap.ErrorLevel)
	s.logLevel = logging.Level
	logger, err := logging.Build()
	if err != nil {
		return nil, err
	}

	config := embed.NewConfig()
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	config.Dir = dir.Etcd()
	config.ListenClientUrls = []url.URL{*client}
	config.ListenPeerUrls = []url.URL{peer}
	// Nobody is to use what is advertised. It has to look like an address, and the peer's is stored
	// in the data and must not change with the next start.
	config.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "localhost:2379"}}
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.TickMs = etcdTickMilliseconds
	config.ElectionMs = etcdElectionMilliseconds
	config.UnsafeNoFsync = !options.fsync
	config.QuotaBackendBytes = options.quotaBytes
	return config, nil
}

// Err delivers what ends etcd before its time.
func (s *etcdServer) Err() <-chan error {
	if s.etcd == nil {
		return nil
	}
	return s.etcd.Err()
}

// Stop ends etcd and waits for it.
func (s *etcdServer) Stop() {
	if s.etcd != nil {
		// To etcd its own listeners' end is an error; in a log it would mislead.
		s.logLevel.SetLevel(zap.FatalLevel)
		s.etcd.Close()
	}
	if s.sockets != nil {
		s.sockets.Close()
	}
}
