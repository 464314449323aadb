// SPDX-License-Identifier: Apache-2.0

// loadgen is the load of tests/bench/scale.sh: SandboxRuns, and node agents without jails.
//
// It reads commands from standard input, a JSON object a line, and answers each with one or more
// lines; the last has "done": true. What fails is told on stderr and ends it with status 1, since
// figures from a load that isn't whole mean nothing. Its parts:
//
//   - observer: one watch of all runs, as the controller's. It notes when each run was created,
//     assigned and finished, and everything else waits on it;
//   - fleet: the agents. Each has a Node, a Pod, a token bound to it, a connection, a SandboxNode,
//     a Lease that it renews, and a watch of its own with a field selector on its node's name. A
//     run that is assigned to it takes runTime, then its result is patched into the status;
//   - creator: makes runs, as fast as it can or at a fixed rate;
//   - writer: assigns runs as the controller does, with the controller's token and as many
//     requests in flight, and thinks about nothing. It is what the controller is compared with.
//
// With "hint": true an agent has no watch of runs. It watches one object of its node by name, an
// AssignmentHint; the writer names the runs there, those of several assignments in one patch if
// they come that fast, and the agent reads each run by a GET. That is no part of SandboxRun: it
// tells what the other way to bring an assignment to its agent would cost.
//
// With -path it is the client of tests/bench/run.sh instead.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	options := flags()
	if options.pathRuns > 0 {
		if err := measurePath(context.Background(), options); err != nil {
			fmt.Fprintln(os.Stderr, "loadgen:", err)
			os.Exit(1)
		}
		return
	}
	if err := serve(context.Background(), options); err != nil {
		fmt.Fprintln(os.Stderr, "loadgen:", err)
		os.Exit(1)
	}
}

type loadOptions struct {
	admin      string
	controller string
	namespace  string
	pathRuns   int
}

func flags() loadOptions {
	var options loadOptions
	flag.StringVar(&options.admin, "kubeconfig", "", "kubeconfig that may do everything (required)")
	flag.StringVar(&options.controller, "controller-kubeconfig", "",
		"kubeconfig of the controller, for the bare writer (required)")
	flag.StringVar(&options.namespace, "system-namespace", "sandboxrun-system",
		"where the agents' service account and Leases are")
	flag.IntVar(&options.pathRuns, "path", 0,
		"take no commands: send so many runs, one at a time, in turn with bare ones (path.go)")
	flag.Parse()
	if options.admin == "" || options.controller == "" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	return options
}

// command is a line of standard input. The fields beside Command are its arguments.
type command struct {
	Command  string  `json:"command"`
	Count    int     `json:"count"`
	Rate     float64 `json:"rate"`
	Hint     bool    `json:"hint"`
	Assigner string  `json:"assigner"`
}

// answer is a line of standard output.
type answer map[string]any

func serve(ctx context.Context, options loadOptions) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	load, err := newLoad(ctx, cancel, options)
	if err != nil {
		return err
	}
	lines := make(chan command)
	go readCommands(lines, cancel)
	output := json.NewEncoder(os.Stdout)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case line, more := <-lines:
			if !more {
				return nil
			}
			result, err := load.perform(ctx, line, func(event answer) { _ = output.Encode(event) })
			if err != nil {
				return fmt.Errorf("%s: %w", line.Command, err)
			}
			result["done"] = true
			if err := output.Encode(result); err != nil {
				return err
			}
		}
	}
}

func readCommands(lines chan<- command, cancel context.CancelCauseFunc) {
	defer close(lines)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var line command
		if err := json.Unmarshal(input.Bytes(), &line); err != nil {
			cancel(fmt.Errorf("a command is no JSON: %w", err))
			return
		}
		lines <- line
	}
}
