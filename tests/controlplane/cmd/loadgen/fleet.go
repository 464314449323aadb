// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	serviceAccount = "sandboxrun-agent"
	// runTime is how long a program takes.
	runTime = 20 * time.Millisecond
	// registrations at a time.
	registrations = 16
	// beatsPerConnection is below the server's bound on the streams of one connection.
	beatsPerConnection = 50
)

// fleet is all agents.
type fleet struct {
	admin     *client
	namespace string
	fail      context.CancelCauseFunc

	mutex     sync.RWMutex
	agents    []*agent
	hints     bool
	stop      context.CancelFunc // of the watches
	watching  int
	beats     *client // connection of the next agents' heartbeats
	holding   atomic.Bool
	conflicts atomic.Int64

	watchesEnded atomic.Int64 // by the server
}

func newFleet(admin *client, namespace string, fail context.CancelCauseFunc) *fleet {
	return &fleet{admin: admin, namespace: namespace, fail: fail, stop: func() {}}
}

// member number i, counted round.
func (f *fleet) member(i int) *agent {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return f.agents[i%len(f.agents)]
}

func (f *fleet) all() []*agent {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return f.agents
}

func (f *fleet) takeConflicts() int64 { return f.conflicts.Swap(0) }

// hold has agents keep what they are assigned, or finish all that they keep.
func (f *fleet) hold(on bool) {
	f.holding.Store(on)
	if on {
		return
	}
	for _, agent := range f.all() {
		agent.release()
	}
}

// scale makes further agents and opens all watches that aren't open.
func (f *fleet) scale(ctx context.Context, count int, hints bool) error {
	first := len(f.all())
	if count < first {
		return fmt.Errorf("there are %d agents already", first)
	}
	added := make([]*agent, count-first)
	for i := range added {
		if (first+i)%beatsPerConnection == 0 {
			f.beats = f.admin.as("")
		}
		added[i] = newAgent(f, fmt.Sprintf("node-%04d", first+i), f.beats)
	}
	err := forEach(ctx, registrations, len(added), whenever, func(i int, _ time.Time) error {
		return added[i].register(ctx)
	})
	if err != nil {
		return err
	}
	f.mutex.Lock()
	f.agents = append(f.agents, added...)
	f.mutex.Unlock()
	return f.openWatches(ctx, hints)
}

func (f *fleet) openWatches(ctx context.Context, hints bool) error {
	agents := f.all()
	if hints == f.hints && f.watching == len(agents) {
		return nil
	}
	if hints != f.hints {
		f.stop()
		f.watching = 0
		f.stop = func() {}
	}
	f.hints = hints
	watchCtx, stop := context.WithCancel(ctx)
	before := f.stop
	f.stop = func() { before(); stop() }
	fresh := agents[f.watching:]
	f.watching = len(agents)
	return forEach(ctx, registrations, len(fresh), whenever, func(i int, _ time.Time) error {
		return fresh[i].open(watchCtx, hints)
	})
}
