/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/deadline.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/idmap.h"
#include "node-agent/jailer/netns_pool.h"
#include "node-agent/jailer/network.h"
#include "node-agent/jailer/pool.h"
#include "node-agent/jailer/runtimes.h"

#include <stdint.h>

struct sandbox;

/* What all sandboxes of one jailer share; made in main.c, handed to whoever needs it. */
struct jailer {
    struct events events;
    struct deadlines deadlines;
    struct idmap idmap;
    struct runtimes runtimes;
    struct netns_pool netns; /* for sandboxes without network */
    struct network network;
    struct cgroup_system *cgroups;
    int proc_fd;
    unsigned int last_capability;
    unsigned int landlock_abi; /* 0: no lock here */
    uint32_t max_runs;
    uint64_t memory_capacity_bytes;
    uint64_t cpu_capacity_milli;
    struct pools pools;
    struct sandbox *sandboxes;
    uint32_t sandbox_count;       /* those of the pools too */
    uint64_t memory_in_use_bytes; /* the sum of the limits of all live ones that are a run's */
};
