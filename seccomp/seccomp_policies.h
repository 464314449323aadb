/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/filter.h>
#include <stdint.h>

/*
 * The seccomp filters, compiled at build time from the JSON files beside this header by
 * sandboxrun-seccomp. For seccomp(2), SECCOMP_SET_MODE_FILTER: a struct sock_fprog of len and
 * filter (the kernel does not write to it).
 */
struct seccomp_policy {
    const char *name;
    const struct sock_filter *filter;
    uint16_t len; /* instructions */
};

/* The program of a run, by profile. Loaded last, before exec. */
extern const struct seccomp_policy seccomp_policy_snippet;
extern const struct seccomp_policy seccomp_policy_tool_call;

/* Process 1 of the jail, once it has started the program. Kills at whatever it doesn't name. */
extern const struct seccomp_policy seccomp_policy_reaper;
