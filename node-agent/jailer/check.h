/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/checks.h"

/* What the files checks_*.c share: one function for each concern, which adds its results. */

struct check_kind {
    const char *name; /* a DNS subdomain */
    enum proto_level level;
    const char *advice; /* said when it fails */
};

struct check_subject {
    int proc_fd;
    const struct options *options;
    struct checks *checks;
    const char *obstacle; /* name of a failed check without which nothing can be tried, or NULL */
};

/* Adds a result; what can't stand in a message becomes '?', what is too long is cut. Beyond
 * PROTO_MAX_CHECKS results are dropped. */
void check_add(struct checks *checks, const struct check_kind *kind, enum proto_outcome outcome,
               const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* OK with figure if r is not negative, else failed with what err says. */
void check_add_result(struct checks *checks, const struct check_kind *kind, int r,
                      const struct error *err, const char *figure);

/* Skipped, since another check failed. */
void check_add_skipped(struct checks *checks, const struct check_kind *kind, const char *obstacle);

/* Calls fn in a child process, where it may change whatever a process can; its result. A child
 * that takes longer than TRIAL_WITHIN_MS is killed: -ETIMEDOUT. */
typedef int (*check_trial_fn)(const void *arg, struct error *err);

int check_trial(check_trial_fn fn, const void *arg, struct error *err);

/* The trial's result as a check, skipped where there is an obstacle. */
void check_try(const struct check_subject *subject, const struct check_kind *kind,
               check_trial_fn fn, const void *arg, const char *figure);

/* Whether a release as uname(2) tells it, "6.1.0-18-cloud-amd64", is one that has all. */
bool checks_kernel_is_new_enough(const char *release);

/* The concerns, in this order. The first sets the obstacle. */
void checks_privilege(struct check_subject *subject);
void checks_kernel(struct check_subject *subject);
void checks_namespaces(struct check_subject *subject);
void checks_network(struct check_subject *subject);
void checks_cgroup(struct check_subject *subject);
void checks_runtimes(struct check_subject *subject);
void checks_node(struct check_subject *subject);
