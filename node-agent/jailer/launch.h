/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/jailer.h"
#include "node-agent/jailer/report.h"

#include <sys/types.h>

struct seccomp_policy;
struct zygote;

/* What a new jail consists of in the jailer's eyes; all descriptors are the caller's. */
struct launch {
    int pidfd; /* of process 1; -1: it is to be forked, and comes with REPORT_BORN */
    int status_fd;
    int exit_fd;
    int lifeline_fd;
    int backstop_fd; /* a timer of CLOCK_BOOTTIME, unset, that process 1 and the agent have too */
    int agent_fds[PROTO_CREATED_FDS];
    const struct seccomp_policy *policy; /* the program's */
};

#define LAUNCH_INIT                                                                                \
    ((struct launch){.pidfd = -1,                                                                  \
                     .status_fd = -1,                                                              \
                     .exit_fd = -1,                                                                \
                     .lifeline_fd = -1,                                                            \
                     .backstop_fd = -1,                                                            \
                     .agent_fds = {-1, -1, -1, -1}})

/* How its program starts. */
struct launch_kind {
    bool waits;            /* says when it is there, and takes its request whenever that comes */
    bool shows_places;     /* of a run that isn't there yet, whose limits may be tighter */
    struct zygote *zygote; /* as a fork of this one; NULL: it is executed */
};

/* Makes the pipes, plans the jail and clones process 1 into cgroup, or asks the zygote for it;
 * lease is NULL without network. -errno with the lock that could not be set in *ret_lock; nothing
 * is left then. */
int launch_jail(struct jailer *jailer, const struct proto_create *create, uid_t outer_id,
                const struct cgroup *cgroup, struct network_lease *lease,
                const struct launch_kind *kind, struct launch *ret_launch, enum jail_lock *ret_lock,
                struct error *err);

void launch_close(struct launch *launch);
