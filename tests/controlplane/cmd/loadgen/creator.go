// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"
)

const (
	// namespaces is so many that none has more than 1,000 of 10,000 runs.
	namespaces = 20
	// createsInFlight at most: a server that lags further behind than this slows the rate.
	createsInFlight = 128
	// writesInFlight of everything that is as fast as it can be.
	writesInFlight = 32
)

// creator makes runs and takes them away.
type creator struct {
	client   *client
	observer *observer
	made     int
}

func (c *creator) namespace(ctx context.Context, i int) (string, error) {
	name := fmt.Sprintf("bench-%d", i%namespaces)
	if i >= namespaces {
		return name, nil
	}
	return name, c.client.post(ctx, "/api/v1/namespaces", object{"metadata": object{"name": name}},
		nil)
}

// create makes count runs, rate a second, or with rate 0 as fast as it can.
func (c *creator) create(ctx context.Context, count int, rate float64) ([]string, error) {
	keys := make([]string, count)
	for i := range keys {
		namespace, err := c.namespace(ctx, c.made)
		if err != nil {
			return nil, err
		}
		keys[i] = fmt.Sprintf("%s/run-%d", namespace, c.made)
		c.made++
	}
	inFlight := writesInFlight
	if rate > 0 {
		inFlight = createsInFlight
	}
	began := time.Now()
	return keys, forEach(ctx, inFlight, len(keys), func(i int) time.Time {
		if rate == 0 {
			return time.Time{}
		}
		return began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
	}, func(i int, due time.Time) error {
		if due.IsZero() {
			due = time.Now()
		}
		c.observer.expect(keys[i], due)
		return c.createOne(ctx, keys[i])
	})
}

func (c *creator) createOne(ctx context.Context, key string) error {
	path := runPath(key)
	end := len(path)
	for path[end-1] != '/' {
		end--
	}
	return c.client.post(ctx, path[:end-1], runDocument(path[end:]), nil)
}

// end writes pending runs off.
func (c *creator) end(ctx context.Context, keys []string) error {
	return forEach(ctx, writesInFlight, len(keys), whenever, func(i int, _ time.Time) error {
		return c.client.patch(ctx, runPath(keys[i])+"/status",
			writtenOff(c.observer.versionOf(keys[i])), nil)
	})
}

func (c *creator) delete(ctx context.Context, keys []string) error {
	return forEach(ctx, writesInFlight, len(keys), whenever, func(i int, _ time.Time) error {
		return c.client.delete(ctx, runPath(keys[i]))
	})
}

// whenever is the schedule of what has none.
func whenever(int) time.Time { return time.Time{} }

// forEach calls do for 0 to count-1, each no earlier than when says, inFlight at a time; the first
// error of any.
func forEach(ctx context.Context, inFlight, count int, when func(int) time.Time,
	do func(int, time.Time) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	places := make(chan struct{}, inFlight)
	for i := range count {
		due := when(i)
		if !due.IsZero() {
			time.Sleep(time.Until(due))
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		go func() {
			if err := do(i, due); err != nil {
				cancel(err)
			}
			<-places
		}()
	}
	for range inFlight {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return context.Cause(ctx)
}
