/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/mounts.h"

#include "common/cleanup.h"

/* Each gets a quarter of the memory limit, a quarter is left for the program itself. */
#define TMPFS_SHARE 4

/* Inodes cost kernel memory that is charged to the run too: the cap gives ENOSPC before that. */
#define MAX_TMPFS_INODES 16384u

struct tmpfs_place {
    const char *path;
    const char *step;
    const char *mode;
};

static const struct tmpfs_place places[MOUNTS_TMPFS_COUNT] = {
    [MOUNTS_TMP] = {"/tmp", "mount a tmpfs on /tmp", "1777"},
    [MOUNTS_SHM] = {"/dev/shm", "mount a tmpfs on /dev/shm", "1777"},
    [MOUNTS_HOME] = {JAIL_HOME, "mount a tmpfs on " JAIL_HOME, "0700"},
};

void mounts_plan(struct mounts_plan *ret_plan, uint64_t memory_bytes, uid_t owner)
{
    unsigned long long size = memory_bytes / TMPFS_SHARE;
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++)
        (void)snprintf(ret_plan->options[i], sizeof(ret_plan->options[i]),
                       "size=%llu,nr_inodes=%u,mode=%s,uid=%u,gid=%u", size, MAX_TMPFS_INODES,
                       places[i].mode, owner, owner);
}

int mounts_enter(const struct mounts_plan *plan, struct error *err)
{
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++) {
        if (mount("tmpfs", places[i].path, "tmpfs", MS_NOSUID | MS_NODEV, plan->options[i]) < 0)
            return error_set(err, errno, "%s", places[i].step);
    }
    if (mount("proc", "/proc", "proc", MOUNTS_PROC_FLAGS, MOUNTS_PROC_OPTIONS) < 0)
        return error_set(err, errno, "mount /proc");
    return 0;
}

int mounts_enter_home(struct error *err)
{
    return chdir(JAIL_HOME) < 0 ? error_set(err, errno, "enter " JAIL_HOME) : 0;
}
