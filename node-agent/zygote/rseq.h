/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

/* Tells the kernel anew of the C library's restartable sequences (rseq(2)), for a process whose
 * parent had none: a child that shares memory has none, and neither has what it forks. Nothing to
 * do where the library has not registered any (glibc before 2.35, or told not to). */
int rseq_register(struct error *err);
