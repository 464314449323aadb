/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/filter.h>
#include <stdint.h>

/*
 * The seccomp filters, compiled at build time from the JSON files beside this header by
 * sandboxrun-seccomp. For seccomp(2), SECCOMP_SET_MODE_FILTER: a struct sock_fprog of len and
 * filter (the kernel does not write to it).
 *
 * A policy that reports its refusals has a filter that sends them to a listener
 * (SECCOMP_RET_USER_NOTIF), and answers, which says what each of them is to be answered: the same
 * policy as a filter without a listener. It is not loaded, the listener runs it.
 */
struct seccomp_policy {
    const char *name;
    const struct sock_filter *filter;
    uint16_t len; /* instructions */
    uint16_t answers_len;
    const struct sock_filter *answers; /* NULL: nothing is reported */
};

/* The program of a run, by profile. Loaded last, before exec. */
extern const struct seccomp_policy seccomp_policy_snippet;
extern const struct seccomp_policy seccomp_policy_tool_call;

/* Process 1 of the jail, once it has started the program. Kills at whatever it doesn't name. */
extern const struct seccomp_policy seccomp_policy_reaper;
