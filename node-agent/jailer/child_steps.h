/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/jail_spec.h"
#include "node-agent/jailer/report.h"

#include <stddef.h>

/* The locks that processes 1 and 2 share, in the order in which process 1 sets them before there is
 * a process 2. -errno with the step in err, without the errno's text. Async-signal-safe. */
struct child_step {
    enum jail_lock lock;
    int (*set)(const struct jail_spec *spec, struct error *err);
};

extern const struct child_step child_steps[];
extern const size_t child_steps_count;
