// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sort"
	"time"
)

// load is what the commands act on.
type load struct {
	admin    *client
	observer *observer
	fleet    *fleet
	creator  *creator
	writer   *writer
}

func newLoad(ctx context.Context, fail context.CancelCauseFunc, options loadOptions) (*load, error) {
	admin, err := newClient(options.admin)
	if err != nil {
		return nil, err
	}
	controller, err := newClient(options.controller)
	if err != nil {
		return nil, err
	}
	l := &load{admin: admin, observer: newObserver(admin)}
	l.fleet = newFleet(admin, options.namespace, fail)
	l.creator = &creator{client: admin, observer: l.observer}
	l.writer = newWriter(ctx, controller, l.observer, l.fleet, fail)
	return l, l.observer.start(ctx, fail)
}

// perform does what a command says; tell is for events before its end.
func (l *load) perform(ctx context.Context, line command, tell func(answer)) (answer, error) {
	switch line.Command {
	case "agents":
		return l.agents(ctx, line)
	case "create":
		return l.create(ctx, line)
	case "assign":
		return l.assign(ctx, line, tell)
	case "finish":
		return l.finish(ctx)
	case "end":
		return l.end(ctx)
	case "delete":
		return l.delete(ctx, line)
	case "flow":
		return l.flow(ctx, line)
	}
	return nil, fmt.Errorf("no such command")
}

// agents brings the fleet to its size, each with its watch open.
func (l *load) agents(ctx context.Context, line command) (answer, error) {
	began := time.Now()
	if err := l.fleet.scale(ctx, line.Count, line.Hint); err != nil {
		return nil, err
	}
	return answer{"agents": line.Count, "seconds": time.Since(began).Seconds()}, nil
}

// create makes runs as fast as it can; agents will hold them until "finish".
func (l *load) create(ctx context.Context, line command) (answer, error) {
	began := time.Now()
	l.fleet.hold(true)
	keys, err := l.creator.create(ctx, line.Count, line.Rate)
	if err != nil {
		return nil, err
	}
	err = l.observer.wait(ctx, keys, func(r *run) bool { return !r.seen.IsZero() })
	return answer{"runs": len(keys), "seconds": time.Since(began).Seconds()}, err
}

// assign waits until nothing is Pending any more; the writer does it, or else the controller has
// to. The clock runs from the first assignment to the last, as a watch shows them.
func (l *load) assign(ctx context.Context, line command, tell func(answer)) (answer, error) {
	keys := l.observer.pending()
	if len(keys) < 2 {
		return nil, fmt.Errorf("%d runs are pending, which says nothing", len(keys))
	}
	before := l.observer.assignedCount()
	if line.Assigner == "writer" {
		l.writer.assignAll(keys)
	}
	if err := l.observer.waitAssigned(ctx, before+1); err != nil {
		return nil, err
	}
	tell(answer{"event": "first"})
	assigned := func(r *run) bool { return !r.assigned.IsZero() }
	if err := l.observer.wait(ctx, keys, assigned); err != nil {
		return nil, err
	}
	times := l.observer.times(keys, func(r *run) time.Time { return r.assigned })
	seconds := times[len(times)-1].Sub(times[0]).Seconds()
	return answer{"runs": len(keys), "seconds": seconds,
		"per_second": float64(len(keys)-1) / seconds}, nil
}

// finish lets the agents write the results of the runs they hold.
func (l *load) finish(ctx context.Context) (answer, error) {
	keys := l.observer.unfinished()
	l.fleet.hold(false)
	err := l.observer.wait(ctx, keys, func(r *run) bool { return !r.finished.IsZero() })
	return answer{"runs": len(keys)}, err
}

// end writes runs that are pending off as failed, without anybody's taking part: objects that are
// just there.
func (l *load) end(ctx context.Context) (answer, error) {
	keys := l.observer.pending()
	if err := l.creator.end(ctx, keys); err != nil {
		return nil, err
	}
	err := l.observer.wait(ctx, keys, func(r *run) bool { return !r.finished.IsZero() })
	return answer{"runs": len(keys)}, err
}

// delete takes the oldest finished runs away.
func (l *load) delete(ctx context.Context, line command) (answer, error) {
	keys := l.observer.oldestFinished(line.Count)
	if err := l.creator.delete(ctx, keys); err != nil {
		return nil, err
	}
	return answer{"runs": len(keys)}, l.observer.waitGone(ctx, keys)
}

// flow makes runs at a rate, and waits until all are finished. Times count from when a run was due
// to be created, so that a server that lags doesn't hide it.
func (l *load) flow(ctx context.Context, line command) (answer, error) {
	l.fleet.hold(false)
	refused.Store(0)
	l.writer.follow(line.Assigner == "writer")
	defer l.writer.follow(false)
	began := time.Now()
	keys, err := l.creator.create(ctx, line.Count, line.Rate)
	if err != nil {
		return nil, err
	}
	err = l.observer.wait(ctx, keys, func(r *run) bool { return !r.finished.IsZero() })
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	assigned := l.observer.latencies(keys, func(r *run) time.Time { return r.assigned })
	finished := l.observer.latencies(keys, func(r *run) time.Time { return r.finished })
	return answer{
		"runs":                       len(keys),
		"seconds":                    seconds,
		"created_to_assigned_p50_ms": quantile(assigned, 0.5),
		"created_to_assigned_p99_ms": quantile(assigned, 0.99),
		"created_to_finished_p50_ms": quantile(finished, 0.5),
		"created_to_finished_p99_ms": quantile(finished, 0.99),
		"conflicts":                  l.fleet.takeConflicts() + l.writer.takeConflicts(),
		"refused":                    refused.Swap(0),
		"watches_ended":              l.fleet.watchesEnded.Swap(0) + l.observer.watchesEnded.Swap(0),
	}, nil
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func milliseconds(durations []time.Duration) []float64 {
	ms := make([]float64, len(durations))
	for i, duration := range durations {
		ms[i] = float64(duration.Microseconds()) / 1000
	}
	sort.Float64s(ms)
	return ms
}
