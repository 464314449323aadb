/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What the machine must give before a jailer can start. */

/* Opens /dev/null where one of the descriptors 0 to 2 is closed: before any other is opened. */
int host_fill_standard_fds(struct error *err);

/* Undoes what the jailer's parent would hand on to sandboxes: ignored signals, a scheduling policy,
 * a personality. */
int host_reset_inherited(struct error *err);

/* Root with its capabilities (at_root: see caps.h), a limit on core files that can be 1, pidfds. */
int host_check(bool at_root, struct error *err);

/* Can RLIMIT_CORE be 1? */
int host_check_core_limit(struct error *err);

/* Open files that max_runs sandboxes need. */
uint64_t host_nofile(uint32_t max_runs);

/* Raises the soft limit on open files to what max_runs sandboxes need; -EMFILE if the hard one is
 * lower. */
int host_raise_nofile(uint32_t max_runs, struct error *err);

/* What sandboxes may use: of the machine's memory or the given limit, whichever is less, all but
 * a reserve; all CPUs that the jailer may run on. */
uint64_t host_memory_bytes(uint64_t limit_bytes);
uint64_t host_cpu_milli(void);
