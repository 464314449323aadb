/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#define MAX_RLIMITS 16

struct rlimits_plan {
    struct rlimits_setting {
        int resource;
        const char *name;
        struct rlimit value;
    } settings[MAX_RLIMITS];
    size_t count;
};

/* The limits of a run (setrlimit(2)) with this memory and this many processes. */
void rlimits_plan(struct rlimits_plan *ret_plan, uint64_t memory_bytes, uint32_t pids);

/* Sets them, only ever lowering a hard limit: CAP_SYS_RESOURCE may be missing. -EPERM where
 * RLIMIT_CORE can't be 1. Async-signal-safe. */
int rlimits_enter(const struct rlimits_plan *plan, struct error *err);

/* At start: can rlimits_enter() set RLIMIT_CORE to 1 here? Raises its hard limit if need be. */
int rlimits_check(struct error *err);
