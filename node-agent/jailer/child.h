/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/jail_spec.h"

/* Runs in the process fresh from namespaces_clone(): sets the locks in their order, starts the
 * program as process 2 and becomes the reaper as process 1. What fails is said on the status pipe,
 * and the process ends. */
_Noreturn void child_run(const struct jail_spec *spec);
