/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/landlock.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/payload.h"
#include "node-agent/jailer/rlimits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct seccomp_policy;

/* The one user and group inside. */
#define JAIL_UID 65532u

/* v1 hierarchies that a child enters by itself. */
#define MAX_CGROUP_HIERARCHIES 4

/* Descriptors that a child inherits; all others are closed first. */
enum jail_fd {
    JAIL_FD_STATUS,   /* the jail's end of the status socket */
    JAIL_FD_EXIT,     /* write end of the exit pipe */
    JAIL_FD_LIFELINE, /* read end; nothing is ever written, its end means that the jailer is gone */
    JAIL_FD_BACKSTOP, /* a timer that is set when the program is started */
    JAIL_FD_REQUEST,
    JAIL_FD_STDOUT,
    JAIL_FD_STDERR,
    JAIL_FD_MOUNT_NS, /* the runtime's template */
    JAIL_FD_NET_NS,   /* made ahead; -1: the child makes its own */
    JAIL_FD_PROC,     /* the jailer's /proc, for /proc/self of the child */
    JAIL_FD_REAPER,   /* what process 1 of a forked jail executes (reaper_start.h); others: -1 */
    JAIL_FD_COUNT,
};

/*
 * Everything that a jail is made from, complete before the child exists: the child parses,
 * allocates and decides nothing.
 */
struct jail_spec {
    int fds[JAIL_FD_COUNT];
    int tasks_fds[MAX_CGROUP_HIERARCHIES]; /* v1: `tasks` of each hierarchy; v2: none */
    size_t tasks_count;
    uid_t outer_id; /* uid and gid outside */
    struct mounts_plan mounts;
    struct rlimits_plan rlimits;
    struct payload payload;
    bool shows_places; /* sends the private file systems, so that they can be made smaller */
    unsigned int last_capability;
    struct landlock_plan landlock;
    const struct seccomp_policy *payload_policy;
    const struct seccomp_policy *reaper_policy;
};
