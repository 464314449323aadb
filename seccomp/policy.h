/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "seccomp/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A seccomp policy in the format of the OCI runtime specification (config-linux.md, "Seccomp"),
 * read strictly: what another runtime would skip in silence is an error here, and every rule has a
 * reason in its "comment". Rules are alternatives without an order. "includes" of a rule is that of
 * the profiles of docker and podman. Ours beside the comments are "reportRefusals" of the whole and
 * "report" of a rule, see README.md.
 */
#define MAX_POLICY_BYTES ((size_t)256 * 1024)
#define MAX_POLICY_RULES 512
#define MAX_POLICY_NAMES 512 /* of one rule */
#define MAX_POLICY_ARGS  6

enum policy_action {
    POLICY_ACTION_ALLOW,
    POLICY_ACTION_ERRNO,
    POLICY_ACTION_KILL_PROCESS,
};

enum policy_compare {
    POLICY_COMPARE_EQ,
    POLICY_COMPARE_NE,
    POLICY_COMPARE_LT,
    POLICY_COMPARE_LE,
    POLICY_COMPARE_GT,
    POLICY_COMPARE_GE,
    POLICY_COMPARE_MASKED_EQ, /* (argument & value) == value_two */
};

/* A comparison of 64-bit unsigned numbers. */
struct policy_arg {
    unsigned index;
    enum policy_compare compare;
    uint64_t value;
    uint64_t value_two;
};

/* Matches a call of one of the names if all of the args hold. */
struct policy_rule {
    char **names;
    size_t n_names;
    enum policy_action action;
    unsigned errno_ret;     /* of POLICY_ACTION_ERRNO */
    bool unreported;        /* "report": false, a refusal that programs count on */
    bool archs[ARCH_COUNT]; /* where it holds: "includes": {"arches": [...]}, or everywhere */
    struct policy_arg args[MAX_POLICY_ARGS];
    size_t n_args;
    char *comment;
};

struct policy {
    char *comment;
    enum policy_action default_action;
    unsigned default_errno;
    bool report_refusals; /* "reportRefusals": true */
    bool archs[ARCH_COUNT];
    struct policy_rule *rules;
    size_t n_rules;
};

/* Reads a policy; no effect but the allocation. -EINVAL with the place and the cause: no JSON,
 * unknown, missing or doubled members, names that no system call has, rules that say two things
 * about one call. -ENOMEM. The caller frees with policy_free(). */
int policy_parse(const char *bytes, size_t len, struct policy **ret_policy, struct error *err);

void policy_free(struct policy *policy);

static inline void policy_free_cleanup(struct policy **policy)
{
    policy_free(*policy);
}
#define cleanup_policy __attribute__((cleanup(policy_free_cleanup)))

/* Whether the refusal of a rule, or of the default action (rule is NULL), is reported. */
bool policy_reports(const struct policy *policy, const struct policy_rule *rule);

/* Whether a rule holds everywhere that its policy does. */
bool policy_rule_everywhere(const struct policy *policy, const struct policy_rule *rule);

/* Number of different system calls of an architecture that a policy allows, with or without
 * conditions. */
size_t policy_count_allowed(const struct policy *policy, enum arch arch);
