/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/jail_spec.h"
#include "node-agent/jailer/pass_fd.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the jailer and a zygote say to each other, packets on a socket. Both ends are of one build,
 * for the jailer brings the zygote's code along.
 *
 *   jailer                        zygote
 *   names of modules  -------->             to be imported, words between blanks
 *                     <--------  FORK_READY
 *   fork_request      -------->             with its descriptors: one jail each. Its answer is the
 *                                           jail's own, on the status socket (report.h)
 *
 * The end of the socket is the zygote's end.
 */
#define FORK_READY '\n'

/* Tells a request from stray bytes. */
#define FORK_REQUEST_MAGIC UINT32_C(0x5b52f04b)

/* A jail_spec without what points anywhere: the zygote has the program and the policies itself. */
struct fork_request {
    uint32_t magic;
    uint32_t tasks_count;  /* v1: so many descriptors follow those of the jail */
    uint32_t has_clone_fd; /* v2: one follows */
    uid_t outer_id;
    uint32_t last_capability;
    uint32_t shows_places;
    struct mounts_plan mounts;
    struct rlimits_plan rlimits;
    struct landlock_plan landlock;
};

/* All but JAIL_FD_NET_NS, which would be the host's: such a jail makes its own; and JAIL_FD_REAPER,
 * which the zygote has. */
#define MAX_FORK_FDS (JAIL_FD_COUNT - 2 + MAX_CGROUP_HIERARCHIES)

static_assert(MAX_FORK_FDS <= MAX_PASSED_FDS, "a request goes in one packet");

/* The request for a jail and its descriptors, in their order; their number. clone_fd may be -1. */
size_t fork_request_fill(const struct jail_spec *spec, int clone_fd,
                         struct fork_request *ret_request, int ret_fds[static MAX_FORK_FDS]);

/* Back again, without program and policies. -EPROTO if len, request and
 * descriptors don't go together. Async-signal-safe. */
int fork_request_read(const struct fork_request *request, size_t len, const int *fds, size_t count,
                      struct jail_spec *ret_spec, int *ret_clone_fd);
