// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// waitTimeout is how long the runs of one command may take in all without one of them getting on.
const waitTimeout = 60 * time.Second

// run is what the observer knows of a SandboxRun.
type run struct {
	key      string
	version  string
	order    int       // of creation
	due      time.Time // when it was to be created
	seen     time.Time // these as the watch shows them
	assigned time.Time
	finished time.Time
	node     string
	sandbox  string
}

// observer follows all runs by one watch.
type observer struct {
	client       *client
	version      string // up to which the watch has told
	watchesEnded atomic.Int64

	mutex     sync.Mutex
	changed   chan struct{} // closed and made anew with every event
	events    int
	runs      map[string]*run
	created   int
	assigned  int
	onPending func(*run)
	onEnd     func(*run)
}

func newObserver(client *client) *observer {
	return &observer{client: client, changed: make(chan struct{}), runs: map[string]*run{},
		onPending: func(*run) {}, onEnd: func(*run) {}}
}

// start returns when the watch is open. One that the server has ended goes on where it was.
func (o *observer) start(ctx context.Context, fail context.CancelCauseFunc) error {
	var list metadataAnswer
	if err := o.client.get(ctx, groupPath+"/sandboxruns?limit=1", &list); err != nil {
		return err
	}
	o.version = list.Metadata.ResourceVersion
	opened := make(chan struct{})
	open := sync.OnceFunc(func() { close(opened) })
	go func() {
		for ctx.Err() == nil {
			path := groupPath + "/sandboxruns?watch=true&allowWatchBookmarks=true&resourceVersion=" +
				o.version
			if err := o.client.watch(ctx, path, open, o.take); err != nil {
				fail(err)
				return
			}
			o.watchesEnded.Add(1)
		}
	}()
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// expect notes a run before it is created.
func (o *observer) expect(key string, due time.Time) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.runs[key] = &run{key: key, order: o.created, due: due}
	o.created++
}

func (o *observer) take(event watchEvent) error {
	now := time.Now()
	var seen sandboxRun
	if err := json.Unmarshal(event.Object, &seen); err != nil {
		return err
	}
	o.version = seen.Metadata.ResourceVersion
	if event.Type == "BOOKMARK" {
		return nil
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	known := o.runs[seen.key()]
	if known == nil {
		return fmt.Errorf("%s is a run of somebody else", seen.key())
	}
	known.version = seen.Metadata.ResourceVersion
	if event.Type == "DELETED" {
		delete(o.runs, known.key)
	} else {
		o.note(known, &seen, now)
	}
	o.events++
	close(o.changed)
	o.changed = make(chan struct{})
	return nil
}

func (o *observer) note(known *run, seen *sandboxRun, now time.Time) {
	if known.seen.IsZero() {
		known.seen = now
		o.onPending(known)
	}
	status := &seen.Status
	if status.NodeName != "" && known.assigned.IsZero() {
		known.assigned = now
		known.node = status.NodeName
		known.sandbox = status.SandboxID
		o.assigned++
	}
	if (status.Phase == "Succeeded" || status.Phase == "Failed") && known.finished.IsZero() {
		known.finished = now
		o.onEnd(known)
	}
}

// until waits for condition, which is called with the lock held after every event.
func (o *observer) until(ctx context.Context, condition func() bool) error {
	timer := time.NewTimer(waitTimeout)
	defer timer.Stop()
	events := -1
	for {
		o.mutex.Lock()
		done := condition()
		changed := o.changed
		if o.events != events {
			events = o.events
			timer.Reset(waitTimeout)
		}
		o.mutex.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return fmt.Errorf("nothing has happened for %s", waitTimeout)
		}
	}
}

// wait waits until reached is true of each of the runs.
func (o *observer) wait(ctx context.Context, keys []string, reached func(*run) bool) error {
	done := 0
	err := o.until(ctx, func() bool {
		for done < len(keys) && o.runs[keys[done]] != nil && reached(o.runs[keys[done]]) {
			done++
		}
		return done == len(keys)
	})
	if err != nil {
		return fmt.Errorf("%s is not done, nor may others be: %w", keys[done], err)
	}
	return nil
}

func (o *observer) waitGone(ctx context.Context, keys []string) error {
	done := 0
	return o.until(ctx, func() bool {
		for done < len(keys) && o.runs[keys[done]] == nil {
			done++
		}
		return done == len(keys)
	})
}

func (o *observer) assignedCount() int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.assigned
}

func (o *observer) waitAssigned(ctx context.Context, count int) error {
	return o.until(ctx, func() bool { return o.assigned >= count })
}

// selected are the runs of which is is true, oldest first.
func (o *observer) selected(is func(*run) bool) []string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var found []*run
	for _, known := range o.runs {
		if is(known) {
			found = append(found, known)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].order < found[j].order })
	keys := make([]string, len(found))
	for i, known := range found {
		keys[i] = known.key
	}
	return keys
}

func (o *observer) pending() []string {
	return o.selected(func(r *run) bool { return r.assigned.IsZero() && r.finished.IsZero() })
}

func (o *observer) unfinished() []string {
	return o.selected(func(r *run) bool { return r.finished.IsZero() })
}

func (o *observer) oldestFinished(count int) []string {
	keys := o.selected(func(r *run) bool { return !r.finished.IsZero() })
	return keys[:min(count, len(keys))]
}

// versionOf a run, as the watch has shown it last.
func (o *observer) versionOf(key string) string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if known := o.runs[key]; known != nil {
		return known.version
	}
	return ""
}

// times of the runs, in order.
func (o *observer) times(keys []string, of func(*run) time.Time) []time.Time {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	times := make([]time.Time, len(keys))
	for i, key := range keys {
		times[i] = of(o.runs[key])
	}
	sort.Slice(times, func(i, j int) bool { return times[i].Before(times[j]) })
	return times
}

// latencies in milliseconds from when the runs were due, in order.
func (o *observer) latencies(keys []string, of func(*run) time.Time) []float64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	durations := make([]time.Duration, len(keys))
	for i, key := range keys {
		durations[i] = of(o.runs[key]).Sub(o.runs[key].due)
	}
	return milliseconds(durations)
}
