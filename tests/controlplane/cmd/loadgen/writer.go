// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
)

// assignsInFlight is the controller's bound: controller/limits.h.
const assignsInFlight = 64

// queueLength is more than the runs of any command.
const queueLength = 16384

// writer assigns runs to the nodes in turn, as fast as it can.
type writer struct {
	client   *client
	observer *observer
	fleet    *fleet
	fail     context.CancelCauseFunc

	queue     chan job
	following atomic.Bool
	turn      atomic.Int64
	conflicts atomic.Int64
	byNode    sync.Map // of *hintWriter
}

type job struct{ key, version string }

func newWriter(ctx context.Context, client *client, observer *observer, fleet *fleet,
	fail context.CancelCauseFunc) *writer {
	w := &writer{client: client, observer: observer, fleet: fleet, fail: fail,
		queue: make(chan job, queueLength)}
	observer.onPending = func(r *run) {
		if w.following.Load() {
			w.queue <- job{r.key, r.version}
		}
	}
	observer.onEnd = func(r *run) { w.hint(r.node).drop(r) }
	for range assignsInFlight {
		go w.work(ctx)
	}
	return w
}

// follow assigns every run that is created from now on.
func (w *writer) follow(on bool) { w.following.Store(on) }

// assignAll assigns runs that are there.
func (w *writer) assignAll(keys []string) {
	for _, key := range keys {
		w.queue <- job{key, w.observer.versionOf(key)}
	}
}

func (w *writer) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-w.queue:
			if err := w.assign(ctx, job); err != nil {
				w.fail(err)
				return
			}
		}
	}
}

func (w *writer) assign(ctx context.Context, job job) error {
	agent := w.fleet.member(int(w.turn.Add(1)))
	sandbox := randomUUID()
	patch := claim(job.version, agent.name, agent.instance, sandbox)
	err := w.client.patch(ctx, runPath(job.key)+"/status", patch, nil)
	if isStatus(err, 409) {
		w.conflicts.Add(1)
		return fmt.Errorf("nobody else assigns, and yet: %w", err)
	}
	if err != nil || !agent.hinted() {
		return err
	}
	return w.hint(agent.name).add(ctx, job.key)
}

func (w *writer) takeConflicts() int64 { return w.conflicts.Swap(0) }

func (w *writer) hint(node string) *hintWriter {
	found, _ := w.byNode.LoadOrStore(node, &hintWriter{writer: w, node: node, runs: map[string]bool{}})
	return found.(*hintWriter)
}

// hintWriter keeps one node's AssignmentHint: the runs that are assigned to it and not finished.
// What comes while a patch is under way goes with the next one.
type hintWriter struct {
	writer *writer
	node   string

	mutex  sync.Mutex
	runs   map[string]bool
	dirty  bool
	active bool
}

// add returns when the hint has been written, by this call or by one before it.
func (h *hintWriter) add(ctx context.Context, key string) error {
	h.mutex.Lock()
	h.runs[key] = true
	h.dirty = true
	if h.active {
		h.mutex.Unlock()
		return nil
	}
	h.active = true
	defer func() {
		h.active = false
		h.mutex.Unlock()
	}()
	for h.dirty {
		h.dirty = false
		keys := make([]string, 0, len(h.runs))
		for key := range h.runs {
			keys = append(keys, key)
		}
		h.mutex.Unlock()
		err := h.writer.client.patch(ctx, hintsPath+"/"+h.node, object{"runs": keys}, nil)
		h.mutex.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// drop is told by the next patch.
func (h *hintWriter) drop(r *run) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.runs, r.key)
}

func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
