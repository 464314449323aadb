/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/limits.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * New network namespaces, each for one sandbox, made ahead by a process of its own: the making
 * takes longer than all other namespaces together and waits for the network's global lock. The
 * pool fills up from the second sandbox on, so that a jailer for a single run makes none in vain.
 * When it is empty, or its helper is gone, a child makes its own: slower, never weaker.
 */
struct netns_pool {
    struct events *events;
    int proc_fd;
    struct event_source socket; /* to the helper; -1: not started */
    struct event_source helper; /* its pidfd */
    unsigned int taken;         /* up to 2 */
    bool started;
    size_t asked_count; /* on the way */
    size_t ready_count; /* never more than MAX_READY_NETNS with those on the way */
    int ready[MAX_READY_NETNS];
};

void netns_pool_init(struct netns_pool *pool, struct events *events, int proc_fd);

/* A namespace that nobody has used, the caller's to close; -1 if none is ready. */
int netns_pool_take(struct netns_pool *pool);

/* Has the helper make up for what was taken, starting it if need be: when nobody waits. */
void netns_pool_refill(struct netns_pool *pool);

void netns_pool_done(struct netns_pool *pool);
