/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/runtimes.h"

/*
 * Has a process of its own read the runtimes' files into the page cache, at idle priority, from
 * the jailer's cgroup: whoever reads a page first is charged for it, and a run that is would pin
 * its dead cgroup for as long as the page stays.
 */
struct prefetch {
    struct event_source source; /* its pidfd */
    struct events *events;
};

int prefetch_start(struct prefetch *prefetch, struct events *events,
                   const struct runtimes *runtimes, struct error *err);

/* Ends it, if it still runs. */
void prefetch_stop(struct prefetch *prefetch);
