// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	renewInterval  = 10 * time.Second
	leaseSeconds   = 40
	statusInterval = 10 * time.Second
	patchAttempts  = 5
)

// agent does what node-agent/agent does on the API server, and nothing on a node.
type agent struct {
	fleet    *fleet
	name     string
	instance string
	client   *client // of runs and of the SandboxNode
	beats    *client // of the Lease
	hints    atomic.Bool

	leaseVersion string
	nodeVersion  string
	readySince   string

	mutex     sync.Mutex
	taken     map[string]bool // by sandboxID
	looked    map[string]bool // named by the hint
	held      []*sandboxRun
	allocated int
	changed   chan struct{} // allocated has
}

func newAgent(fleet *fleet, name string, beats *client) *agent {
	return &agent{fleet: fleet, name: name, instance: randomUUID(), beats: beats,
		taken: map[string]bool{}, looked: map[string]bool{}, changed: make(chan struct{}, 1)}
}

func (a *agent) hinted() bool { return a.hints.Load() }

// register makes what the agent's objects hang on, then the objects, and starts their upkeep.
func (a *agent) register(ctx context.Context) error {
	token, err := a.requestToken(ctx)
	if err != nil {
		return err
	}
	a.client = a.fleet.admin.as(token)
	a.beats = a.beats.sharing(token)
	hint := object{"apiVersion": "bench.sandboxrun.dev/v1", "kind": "AssignmentHint",
		"metadata": object{"name": a.name}, "runs": []string{}}
	if err := a.fleet.admin.post(ctx, hintsPath, hint, nil); err != nil {
		return err
	}
	if err := a.createLease(ctx); err != nil {
		return err
	}
	if err := a.createNode(ctx); err != nil {
		return err
	}
	go a.renewAll(ctx)
	go a.writeStatuses(ctx)
	return nil
}

// requestToken makes Node and Pod, and a token that is bound to them, as the kubelet would.
func (a *agent) requestToken(ctx context.Context) (string, error) {
	admin, namespace := a.fleet.admin, "/api/v1/namespaces/"+a.fleet.namespace
	node := object{"metadata": object{"name": a.name,
		"labels": object{"kubernetes.io/hostname": a.name, "kubernetes.io/os": "linux"}}}
	if err := admin.post(ctx, "/api/v1/nodes", node, nil); err != nil {
		return "", err
	}
	// Admission taints every new Node.
	err := admin.patch(ctx, "/api/v1/nodes/"+a.name, object{"spec": object{"taints": nil}}, nil)
	if err != nil {
		return "", err
	}
	var pod metadataAnswer
	podName := serviceAccount + "-" + a.name
	err = admin.post(ctx, namespace+"/pods", object{
		"metadata": object{"name": podName},
		"spec": object{"nodeName": a.name, "serviceAccountName": serviceAccount,
			"automountServiceAccountToken": false,
			"containers":                   []object{{"name": "none", "image": "none"}}},
	}, &pod)
	if err != nil {
		return "", err
	}
	var token struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	err = admin.post(ctx, namespace+"/serviceaccounts/"+serviceAccount+"/token", object{
		"spec": object{"expirationSeconds": 3600, "boundObjectRef": object{"kind": "Pod",
			"apiVersion": "v1", "name": podName, "uid": pod.Metadata.UID}},
	}, &token)
	return token.Status.Token, err
}

// ---- the Lease

func (a *agent) leasesPath() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + a.fleet.namespace + "/leases"
}

func (a *agent) leaseSpec() object {
	return object{"holderIdentity": a.instance, "leaseDurationSeconds": leaseSeconds,
		"leaseTransitions": 0, "acquireTime": a.readySince, "renewTime": microTime(time.Now())}
}

func (a *agent) createLease(ctx context.Context) error {
	a.readySince = microTime(time.Now())
	var lease metadataAnswer
	err := a.beats.post(ctx, a.leasesPath(), object{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": object{"name": a.name, "labels": object{"sandboxrun.dev/lease": "node"}},
		"spec":     a.leaseSpec()}, &lease)
	a.leaseVersion = lease.Metadata.ResourceVersion
	return err
}

// renewAll renews until ctx ends. The agents' turns are spread over the interval.
func (a *agent) renewAll(ctx context.Context) {
	next := rand.N(renewInterval)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(next):
		}
		next = renewInterval
		var lease metadataAnswer
		err := a.beats.patch(ctx, a.leasesPath()+"/"+a.name, object{
			"metadata": object{"resourceVersion": a.leaseVersion,
				"labels": object{"sandboxrun.dev/lease": "node"}},
			"spec": a.leaseSpec()}, &lease)
		if err != nil && ctx.Err() == nil {
			a.fleet.fail(err)
			return
		}
		a.leaseVersion = lease.Metadata.ResourceVersion
	}
}

// ---- the SandboxNode

func (a *agent) nodePath() string { return groupPath + "/sandboxnodes/" + a.name }

func (a *agent) createNode(ctx context.Context) error {
	var node metadataAnswer
	err := a.client.post(ctx, groupPath+"/sandboxnodes", object{
		"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxNode",
		"metadata": object{"name": a.name}}, &node)
	if err != nil {
		return err
	}
	a.nodeVersion = node.Metadata.ResourceVersion
	return a.writeStatus(ctx)
}

func (a *agent) writeStatus(ctx context.Context) error {
	a.mutex.Lock()
	runs := a.allocated
	a.mutex.Unlock()
	var node metadataAnswer
	err := a.client.patch(ctx, a.nodePath()+"/status", object{
		"metadata": object{"resourceVersion": a.nodeVersion},
		"status":   nodeStatus(a.instance, runs, a.readySince)}, &node)
	a.nodeVersion = node.Metadata.ResourceVersion
	return err
}

// writeStatuses tells of a change at once if none was told for statusInterval.
func (a *agent) writeStatuses(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.changed:
		}
		if err := a.writeStatus(ctx); err != nil && ctx.Err() == nil {
			a.fleet.fail(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(statusInterval):
		}
	}
}

// allocate is called with the lock held.
func (a *agent) allocate(by int) {
	a.allocated += by
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// ---- runs

// open returns when the watch is open. As the agent's, it is made anew, after a list, when the
// server has ended it, which it does to a watcher that it takes for slow.
func (a *agent) open(ctx context.Context, hints bool) error {
	a.hints.Store(hints)
	path, selector, take := groupPath+"/sandboxruns", "status.nodeName="+a.name, a.takeRun
	if hints {
		path, selector, take = hintsPath, "metadata.name="+a.name, a.takeHint
	}
	query := "fieldSelector=" + url.QueryEscape(selector)
	opened := make(chan struct{})
	open := sync.OnceFunc(func() { close(opened) })
	go func() {
		for ctx.Err() == nil {
			if err := a.follow(ctx, path, query, open, take); err != nil {
				a.failUnless(ctx, fmt.Errorf("the watch of %s: %w", a.name, err))
				return
			}
			a.fleet.watchesEnded.Add(1)
		}
	}()
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// follow lists and watches until the server ends it.
func (a *agent) follow(ctx context.Context, path, query string, opened func(),
	take func(context.Context, json.RawMessage) error) error {
	var list struct {
		metadataAnswer
		Items []json.RawMessage `json:"items"`
	}
	if err := a.client.get(ctx, path+"?limit=500&"+query, &list); err != nil {
		return err
	}
	for _, item := range list.Items {
		if err := take(ctx, item); err != nil {
			return err
		}
	}
	path += "?watch=true&allowWatchBookmarks=true&" + query + "&resourceVersion=" +
		list.Metadata.ResourceVersion
	return a.client.watch(ctx, path, opened, func(event watchEvent) error {
		if event.Type != "ADDED" && event.Type != "MODIFIED" {
			return nil
		}
		return take(ctx, event.Object)
	})
}

func (a *agent) takeRun(ctx context.Context, run json.RawMessage) error {
	seen := &sandboxRun{}
	if err := json.Unmarshal(run, seen); err != nil {
		return err
	}
	a.start(ctx, seen)
	return nil
}

// takeHint reads each run that it names for the first time.
func (a *agent) takeHint(ctx context.Context, named json.RawMessage) error {
	var hint struct {
		Runs []string `json:"runs"`
	}
	if err := json.Unmarshal(named, &hint); err != nil {
		return err
	}
	for _, key := range hint.Runs {
		if a.looked[key] {
			continue
		}
		a.looked[key] = true
		go func() {
			seen := &sandboxRun{}
			if err := a.client.get(ctx, runPath(key), seen); err != nil {
				a.failUnless(ctx, err)
				return
			}
			a.start(ctx, seen)
		}()
	}
	return nil
}

// failUnless ctx has ended, which takes the agent's requests with it.
func (a *agent) failUnless(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		a.fleet.fail(err)
	}
}

// start runs what is assigned to this instance and was not started yet.
func (a *agent) start(ctx context.Context, assigned *sandboxRun) {
	status := &assigned.Status
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if status.Phase != "Scheduled" || status.AgentInstance != a.instance ||
		a.taken[status.SandboxID] {
		return
	}
	a.taken[status.SandboxID] = true
	a.allocate(1)
	if a.fleet.holding.Load() {
		a.held = append(a.held, assigned)
		return
	}
	go func() { a.failUnless(ctx, a.execute(ctx, assigned, runTime)) }()
}

// release finishes what is held.
func (a *agent) release() {
	a.mutex.Lock()
	held := a.held
	a.held = nil
	a.mutex.Unlock()
	go func() {
		ctx := context.Background()
		for _, assigned := range held {
			a.failUnless(ctx, a.execute(ctx, assigned, 0))
		}
	}()
}

// execute takes the time of a program and writes its result.
func (a *agent) execute(ctx context.Context, assigned *sandboxRun, takes time.Duration) error {
	started := time.Now()
	time.Sleep(takes)
	ended := time.Now()
	version := assigned.Metadata.ResourceVersion
	for attempt := 1; ; attempt++ {
		err := a.client.patch(ctx, runPath(assigned.key())+"/status",
			result(assigned, version, started, ended), nil)
		if err == nil {
			break
		}
		if !isStatus(err, 409) || attempt == patchAttempts {
			return err
		}
		a.fleet.conflicts.Add(1)
		var now sandboxRun
		if err := a.client.get(ctx, runPath(assigned.key()), &now); err != nil {
			return err
		}
		version = now.Metadata.ResourceVersion
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.allocate(-1)
	return nil
}
