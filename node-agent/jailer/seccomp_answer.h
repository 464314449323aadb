/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/seccomp.h>
#include <stdint.h>

struct seccomp_policy;

/*
 * What a refused call that came to the listener is to be answered, by running the policy's second
 * filter on it as the kernel runs the first (Documentation/networking/filter.rst, classic BPF).
 * The errno; 0 if the call ends the run. Never that it may pass: what the second filter would let
 * through or can't decide is answered with EPERM. Pure.
 */
int seccomp_answer(const struct seccomp_policy *policy, const struct seccomp_data *call);
