/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "seccomp/policy.h"

#include <linux/filter.h>
#include <stddef.h>

/* A filter program; insns is the caller's to free. */
struct compiled {
    struct sock_filter *insns;
    size_t len; /* instructions, at most BPF_MAXINSNS */
};

enum compile_kind {
    COMPILE_ANSWERS, /* every refusal is the kernel's answer: an errno, or the end of the process */
    COMPILE_NOTIFY,  /* those that the policy reports go to a listener (seccomp_unotify(2)) */
};

/*
 * Makes a policy into a filter for one architecture, by libseccomp as a binary tree of numbers:
 * the time that a call takes to pass grows with the logarithm of their count. Calls of any other
 * architecture, x32 among them, kill the process, whatever the kind. Names that this architecture
 * lacks are left out.
 *
 * Into ret_skipped (may be NULL) go the number of names that had to be left to the default action,
 * since libseccomp does not know them and arch is not the one that this program runs on.
 * -EINVAL if the policy is not for arch; -E2BIG if the kernel would not take so long a filter.
 */
int compile_policy(const struct policy *policy, enum arch arch, enum compile_kind kind,
                   struct compiled *ret_compiled, size_t *ret_skipped, struct error *err);

void compiled_done(struct compiled *compiled);
#define cleanup_compiled __attribute__((cleanup(compiled_done)))
