/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/jail_spec.h"
#include "node-agent/jailer/report.h"

#include <sys/types.h>

/*
 * The parts of a jail's start, whatever its program comes from (child.h). What fails is said on the
 * status socket, and the process ends. Async-signal-safe.
 */
struct child {
    const struct jail_spec *spec;
    int status_fd;
};

_Noreturn void child_fail(const struct child *child, enum jail_lock lock, const struct error *err);

/* Process 1, first: child_steps in their order, and the reaper's signal descriptor, which it
 * returns. */
int child_lock_both(const struct child *child);

/* Process 2: a session of its own, no blocked signals, and the locks that process 1 doesn't have.
 * Then all that it has are descriptors 0 to 3 and status_fd, which is close-on-exec. */
void child_lock_program(struct child *child);

/* Process 1, with process 2 as main_pid: closes what it doesn't need, puts on its filter, says that
 * it is sealed, and goes on as the reaper. */
_Noreturn void child_reap(struct child *child, int signal_fd, pid_t main_pid);
