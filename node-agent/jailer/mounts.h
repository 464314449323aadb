/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdint.h>
#include <sys/mount.h>
#include <sys/types.h>

/* Where the program lives. */
#define JAIL_HOME "/home/sandbox"

/* subset=pid: no /proc/sys, /proc/keys, /proc/kallsyms and the like, whatever their modes.
 * hidepid: process 1, which isn't dumpable, can't be seen. */
#define MOUNTS_PROC_OPTIONS "subset=pid,hidepid=invisible"
#define MOUNTS_PROC_FLAGS   (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

enum mounts_tmpfs { MOUNTS_TMP, MOUNTS_SHM, MOUNTS_HOME, MOUNTS_TMPFS_COUNT };

/* Each gets a quarter of the memory limit, a quarter is left for the program itself. */
#define MOUNTS_TMPFS_SHARE 4

#define MOUNTS_OPTIONS_SIZE 128

#define MOUNTS_RESOLV_CONF_SIZE 128

/* Mount options of the private file systems, tmpfs(5), and the text of resolv.conf(5). */
struct mounts_plan {
    char options[MOUNTS_TMPFS_COUNT][MOUNTS_OPTIONS_SIZE];
    char resolv_conf[MOUNTS_RESOLV_CONF_SIZE]; /* empty: the runtime's own */
};

/* Sizes the private file systems of a run with this memory limit, owned by owner as it is known
 * outside. Together they stay below the limit, so that a full disk is ENOSPC and no OOM. */
void mounts_plan(struct mounts_plan *ret_plan, uint64_t memory_bytes, uid_t owner);

/* Gives the jail a resolv.conf(5) with this name server alone, an address in text. */
void mounts_plan_resolver(struct mounts_plan *plan, const char *address);

/* In the child, inside its own copy of the runtime's mount namespace: the private file systems and
 * /proc of the new pid namespace (read-only, processes only).
 * -errno with the step in err, without the errno's text. Async-signal-safe. */
int mounts_enter(const struct mounts_plan *plan, struct error *err);

/* Opens one of the private file systems, for mounts_resize(). As above. */
int mounts_open(enum mounts_tmpfs place, struct error *err);

/* From outside, by such a descriptor: as large as mounts_plan() makes it for this memory limit.
 * -EINVAL if more is in it already (fspick(2), fsconfig(2)). */
int mounts_resize(int place_fd, uint64_t memory_bytes, struct error *err);

/* The home as working directory, once the child has become its owner: to root it is closed, unless
 * that has CAP_DAC_OVERRIDE. Async-signal-safe. */
int mounts_enter_home(struct error *err);
