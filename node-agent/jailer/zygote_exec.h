/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/family.h"
#include "node-agent/jailer/jail_spec.h"
#include "node-agent/jailer/rlimits.h"

#include <stddef.h>
#include <sys/types.h>

/* What a zygote is made from. */
struct zygote_plan {
    struct family family;
    uid_t uid;
    gid_t gid;
    int proc_fd;
    int entrance_fds[MAX_CGROUP_HIERARCHIES]; /* it writes "0" into each */
    size_t entrance_count;
    int sock;
    int output_fd;
    struct rlimits_plan rlimits;
};

/* In a fork of the jailer: becomes the zygote. What fails is said on output_fd, and it ends. */
_Noreturn void zygote_exec(const struct zygote_plan *plan);
