/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* CPU time so far of this process and its jailer, with all its children that have ended. */
uint64_t jailed_cpu_ns(pid_t jailer);
