/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/jail_spec.h"

#include <stdbool.h>

/*
 * In process 1, fresh from clone_shared(), with the zygote's memory and stack while that one stands
 * still: says that it was born, sets the locks in their order, forks process 2 and executes the
 * reaper. Returns in process 2 alone, behind all its locks, as a copy of the zygote. What fails is
 * said on the status socket, and the process ends.
 */
void child_fork(const struct jail_spec *spec);

/* In the zygote: whether process 1 was killed while the C library forked. What that one had locked
 * for it, in the memory of both, stays so. */
bool child_fork_was_cut_short(void);
