/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdint.h>

/* What the machine must give before a jailer can start. */

/* Root with its capabilities, descriptors 0 to 2 open, a limit on core files that can be 1. */
int host_check(struct error *err);

/* Raises the soft limit on open files to the hard one; -EMFILE if that does not suffice for
 * max_runs sandboxes. */
int host_raise_nofile(uint32_t max_runs, struct error *err);

/* What sandboxes may use: of the machine's memory or the given limit, whichever is less, all but
 * a reserve; all CPUs that the jailer may run on. */
uint64_t host_memory_bytes(uint64_t limit_bytes);
uint64_t host_cpu_milli(void);
