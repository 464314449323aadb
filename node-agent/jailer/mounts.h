/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Where the program lives. */
#define JAIL_HOME "/home/sandbox"

enum mounts_tmpfs { MOUNTS_TMP, MOUNTS_SHM, MOUNTS_HOME, MOUNTS_TMPFS_COUNT };

#define MOUNTS_OPTIONS_SIZE 128

/* Mount options of the private file systems, tmpfs(5). */
struct mounts_plan {
    char options[MOUNTS_TMPFS_COUNT][MOUNTS_OPTIONS_SIZE];
};

/* Sizes the private file systems of a run with this memory limit, owned by owner as it is known
 * outside. Together they stay below the limit, so that a full disk is ENOSPC and no OOM. */
void mounts_plan(struct mounts_plan *ret_plan, uint64_t memory_bytes, uid_t owner);

/* In the child, inside its own copy of the runtime's mount namespace: the private file systems,
 * /proc of the new pid namespace (read-only, processes only), and the home as working directory.
 * -errno with the step in err, without the errno's text. Async-signal-safe. */
int mounts_enter(const struct mounts_plan *plan, struct error *err);
