/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

struct seccomp_policy;

/* Puts the caller behind a ready filter (seccomp(2)); the kernel checks that no_new_privs is set.
 * Async-signal-safe. */
int seccomp_load(const struct seccomp_policy *policy, struct error *err);

/* The bare call, with flags of SECCOMP_SET_MODE_FILTER: a descriptor or 0, or -errno. */
int seccomp_set_filter(const struct seccomp_policy *policy, unsigned long flags);

/* As seccomp_load(), with a listener for the calls that the policy reports (seccomp_unotify(2)):
 * its descriptor, close-on-exec, the caller's. */
int seccomp_load_listened(const struct seccomp_policy *policy, struct error *err);
