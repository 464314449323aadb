// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

const (
	// floorNode is a node that no controller knows, and so leaves alone.
	floorNode = "bench-floor"
	floorName = "floor-"
	runName   = "run-"
	// pause before each run: one that comes to a quiet cluster.
	pause = 50 * time.Millisecond
	// pathWarmUp rounds are not told.
	pathWarmUp = 3
)

// pathBench measures the path of one run at a time through the API server: those of SandboxRun, and
// in turn with them runs of which the floor's own controller and agent make nothing but the same
// three writes, each when its watch has shown it the one before. Both have tokens, connections and
// watches as the real ones have, are authorised by the same roles and policies, and write the same
// fields. The floor's runs ask for a node that isn't there, so that the real controller leaves them
// alone as long as they take.
type pathBench struct {
	admin      *client
	controller *client
	agent      *agent
	assignedAt time.Time // of the one that is under way; the observer's alone until it is finished
	finished   chan seenRun
	fail       context.CancelCauseFunc
}

type seenRun struct {
	assigned time.Time // when the watch has shown that, and this
	at       time.Time
	key      string
	phase    string
	raw      json.RawMessage
}

// pathSample is a line of output, in milliseconds since the run was sent: when the watch has shown it
// assigned and finished, and in between what its status tells of its start and its end. The status
// has the time of the assignment too, but by the API server's clock, which counts in seconds.
type pathSample struct {
	Kind      string  `json:"kind"`
	Total     float64 `json:"total_ms"`
	Assigned  float64 `json:"assigned_ms"`
	Started   float64 `json:"started_ms"`
	Completed float64 `json:"completed_ms"`
	Reason    string  `json:"reason"`
}

func measurePath(ctx context.Context, options loadOptions) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	admin, err := newClient(options.admin)
	if err != nil {
		return err
	}
	controller, err := newClient(options.controller)
	if err != nil {
		return err
	}
	bench := &pathBench{admin: admin, controller: controller, fail: cancel,
		finished: make(chan seenRun, 16)}
	bench.agent = newAgent(newFleet(admin, options.namespace, cancel), floorNode, admin.as(""))
	token, err := bench.agent.requestToken(ctx)
	if err != nil {
		return err
	}
	bench.agent.client = admin.as(token)
	if err := bench.openWatches(ctx); err != nil {
		return err
	}
	output := json.NewEncoder(os.Stdout)
	for round := range options.pathRuns + pathWarmUp {
		for _, kind := range []string{floorName, runName} {
			sample, err := bench.runOne(ctx, kind, fmt.Sprint(kind, round))
			if err != nil {
				return err
			}
			if round < pathWarmUp {
				continue
			}
			if err := output.Encode(sample); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *pathBench) openWatches(ctx context.Context) error {
	runs := groupPath + "/sandboxruns"
	var list metadataAnswer
	if err := b.admin.get(ctx, runs+"?limit=1", &list); err != nil {
		return err
	}
	from := "&allowWatchBookmarks=true&resourceVersion=" + list.Metadata.ResourceVersion
	for _, watch := range []struct {
		client *client
		query  string
		take   func(context.Context, json.RawMessage) error
	}{
		{b.observerClient(), "", b.observe},
		{b.controller, "", b.assign},
		{b.agent.client, "&fieldSelector=status.nodeName%3D" + floorNode, b.finish},
	} {
		opened := make(chan struct{})
		go func() {
			err := watch.client.watch(ctx, runs+"?watch=true"+watch.query+from,
				func() { close(opened) },
				func(event watchEvent) error {
					if event.Type != "ADDED" && event.Type != "MODIFIED" {
						return nil
					}
					return watch.take(ctx, event.Object)
				})
			if ctx.Err() == nil {
				b.fail(fmt.Errorf("a watch has ended: %w", err))
			}
		}()
		select {
		case <-opened:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// observerClient is the user who creates and waits, on another connection than the creations.
func (b *pathBench) observerClient() *client {
	observer := *b.admin
	observer.connect()
	return &observer
}

func (b *pathBench) observe(_ context.Context, raw json.RawMessage) error {
	seen := seenRun{at: time.Now(), raw: raw}
	var run sandboxRun
	if err := json.Unmarshal(raw, &run); err != nil {
		return err
	}
	switch run.Status.Phase {
	case "Scheduled":
		b.assignedAt = seen.at
	case "Succeeded", "Failed":
		seen.key, seen.phase, seen.assigned = run.key(), run.Status.Phase, b.assignedAt
		b.finished <- seen
	}
	return nil
}

func (b *pathBench) isFloor(run *sandboxRun) bool {
	return len(run.Metadata.Name) > len(floorName) && run.Metadata.Name[:len(floorName)] == floorName
}

// assign is the floor's controller.
func (b *pathBench) assign(ctx context.Context, raw json.RawMessage) error {
	var run sandboxRun
	if err := json.Unmarshal(raw, &run); err != nil {
		return err
	}
	if !b.isFloor(&run) || run.Status.Phase != "Pending" {
		return nil
	}
	patch := claim(run.Metadata.ResourceVersion, floorNode, b.agent.instance, randomUUID())
	return b.controller.patch(ctx, runPath(run.key())+"/status", patch, nil)
}

// finish is the floor's agent. Its program takes no time.
func (b *pathBench) finish(ctx context.Context, raw json.RawMessage) error {
	var run sandboxRun
	if err := json.Unmarshal(raw, &run); err != nil {
		return err
	}
	if !b.isFloor(&run) || run.Status.Phase != "Scheduled" {
		return nil
	}
	now := time.Now()
	return b.agent.client.patch(ctx, runPath(run.key())+"/status",
		result(&run, run.Metadata.ResourceVersion, now, now), nil)
}

func (b *pathBench) runOne(ctx context.Context, kind, name string) (*pathSample, error) {
	document := object{"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
		"metadata": object{"name": name}, "spec": object{"code": "print(1)\n"}}
	if kind == floorName {
		document["spec"].(object)["nodeSelector"] = object{"kubernetes.io/hostname": floorNode}
	}
	time.Sleep(pause)
	began := time.Now()
	err := b.admin.post(ctx, groupPath+"/namespaces/default/sandboxruns", document, nil)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(waitTimeout):
		return nil, fmt.Errorf("%s is not finished after %s", name, waitTimeout)
	case seen := <-b.finished:
		if seen.key != "default/"+name || seen.phase != "Succeeded" {
			return nil, fmt.Errorf("waiting for %s: %s", name, seen.raw)
		}
		return newPathSample(kind, began, seen)
	}
}

func newPathSample(kind string, began time.Time, seen seenRun) (*pathSample, error) {
	var run struct {
		Status struct {
			StartTime      time.Time `json:"startTime"`
			CompletionTime time.Time `json:"completionTime"`
			Reason         string    `json:"reason"`
		} `json:"status"`
	}
	if err := json.Unmarshal(seen.raw, &run); err != nil {
		return nil, err
	}
	// Dates have no monotonic part: those of the status are compared with one that has none.
	since := func(t time.Time) float64 { return float64(t.Sub(began.Round(0)).Microseconds()) / 1000 }
	return &pathSample{
		Kind:      kind[:len(kind)-1],
		Total:     float64(seen.at.Sub(began).Microseconds()) / 1000,
		Assigned:  float64(seen.assigned.Sub(began).Microseconds()) / 1000,
		Started:   since(run.Status.StartTime),
		Completed: since(run.Status.CompletionTime),
		Reason:    run.Status.Reason,
	}, nil
}
