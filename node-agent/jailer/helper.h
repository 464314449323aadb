/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Processes that do for the jailer what its loop must not wait for. They are forks of it, at idle
 * priority, with the few capabilities and descriptors that they need, and die with it.
 */
enum helper_rights {
    HELPER_NAMESPACES, /* CAP_SYS_ADMIN */
    HELPER_FILES,      /* none: a file that a sandbox can read, everybody can */
};

/* main's result is the exit status. A pidfd, for helper_end(), or -errno. */
int helper_start(const char *name, enum helper_rights rights, const int *keep, size_t keep_count,
                 int (*main)(const void *arg), const void *arg);

/* Kills it if it still runs, reaps it and closes its pidfd; -1 is fine. */
void helper_end(int pidfd);
