/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Processes that do for the jailer what its loop must not wait for. They are forks of it with the
 * few capabilities and descriptors that they need.
 */
enum helper_kind {
    HELPER_NAMESPACES, /* CAP_SYS_ADMIN, at idle priority */
    HELPER_FILES,      /* none, for a file that a sandbox can read, everybody can; idle, too */
    HELPER_SLOTS,      /* CAP_NET_ADMIN, CAP_SYS_ADMIN; behind runs, but never starved */
    HELPER_NETWORK,    /* the same, at the usual priority: runs wait for it. Outlives the jailer by
                        * what it takes to undo its work: the only one that doesn't die with it */
};

/* main's result is the exit status. A pidfd, for helper_end(), or -errno. */
int helper_start(const char *name, enum helper_kind kind, const int *keep, size_t keep_count,
                 int (*main)(const void *arg), const void *arg);

/* Kills it if it still runs, reaps it and closes its pidfd; -1 is fine. */
void helper_end(int pidfd);

/* As helper_end(), but lets it run for up to within_ms to its own end. */
void helper_end_within(int pidfd, int within_ms);
