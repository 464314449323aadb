/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#define MAX_RLIMITS 16

#define RLIMITS_NAME_SIZE 20

/* The one value of RLIMIT_CORE at which the kernel refuses to start a piped core handler, which
 * would run as root on the host (fs/coredump.c); no file is that small. With 0 the handler runs all
 * the same. */
#define RLIMITS_CORE 1

/* Without pointers: a process with another memory gets it too. */
struct rlimits_plan {
    struct rlimits_setting {
        int resource;
        char name[RLIMITS_NAME_SIZE];
        struct rlimit value;
    } settings[MAX_RLIMITS];
    size_t count;
};

/* The limits of a run (setrlimit(2)) with this memory and this many processes. */
void rlimits_plan(struct rlimits_plan *ret_plan, uint64_t memory_bytes, uint32_t pids);

/* Sets them, only ever lowering a hard limit: CAP_SYS_RESOURCE may be missing. -EPERM where
 * RLIMIT_CORE can't be 1. Async-signal-safe. */
int rlimits_enter(const struct rlimits_plan *plan, struct error *err);
