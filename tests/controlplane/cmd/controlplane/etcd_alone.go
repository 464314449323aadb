// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"

	"sandboxrun.dev/tests/controlplane/internal/statedir"
)

// etcdAlone runs etcd until it is told to end. What the descriptor of --ready-fd gets is the URL for
// --etcd of `controlplane start`.
func etcdAlone(args []string) error {
	options := &etcdOptions{}
	flags := flag.NewFlagSet("controlplane etcd", flag.ContinueOnError)
	path := flags.String("dir", "", "directory of the control plane whose data it keeps (required)")
	readyFD := flags.Int("ready-fd", -1,
		"descriptor that gets the URL when etcd is ready, and is closed")
	exitWithStdin := flags.Bool("exit-with-stdin", false, "stop at the end of stdin")
	flags.StringVar(&options.listen, "listen", "", "where, such as http://10.0.0.2:2379 (required)")
	options.addTo(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	switch {
	case flags.NArg() != 0:
		return fmt.Errorf("unexpected arguments %q", flags.Args())
	case options.listen == "":
		return errors.New("--listen is missing")
	}
	dir, err := statedir.Open(*path)
	if err != nil {
		return err
	}
	ctx, stop := untilTold(*exitWithStdin)
	defer stop()
	etcd, err := startEtcd(ctx, dir, options)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer etcd.Stop()
	if err := tell(*readyFD, []byte(etcd.URL)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-etcd.Err():
		return fmt.Errorf("etcd ended by itself: %w", reason(err))
	}
}
