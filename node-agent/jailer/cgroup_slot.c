/* SPDX-License-Identifier: Apache-2.0 */

/*
 * jailer-K below PARENT: whoever holds the lock (flock(2)) on the first hierarchy's directory owns
 * the slot in all of them. The kernel lets go of the lock when its owner dies, so that a starting
 * jailer tells the living from the dead without asking for pids.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/cgroup_internal.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/sweep.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

struct slot {
    char name[CGROUP_SLOT_SIZE];
    int fds[MAX_CGROUP_HIERARCHIES]; /* the first bears the lock */
};

static void slot_close(struct slot *slot)
{
    for (size_t i = 0; i < MAX_CGROUP_HIERARCHIES; i++)
        slot->fds[i] = fd_close(slot->fds[i]);
}

static bool slot_exists(const struct cgroup_system *system, const char *name)
{
    for (size_t i = 0; i < system->count; i++) {
        struct stat st;
        if (fstatat(system->hierarchies[i].base_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

static int open_slot_dir(int base_fd, const char *name)
{
    if (mkdirat(base_fd, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* -EBUSY if a living jailer has it. */
static int lock_slot_dir(int base_fd, const char *name)
{
    for (int tries = 0; tries < 8; tries++) {
        cleanup_close int fd = open_slot_dir(base_fd, name);
        if (fd == -ENOENT)
            continue;
        if (fd < 0)
            return fd;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
            return errno == EWOULDBLOCK ? -EBUSY : -errno;
        /* An ending jailer may have removed it between the opening and the lock. */
        struct stat held, named;
        if (fstat(fd, &held) == 0 && fstatat(base_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            held.st_ino == named.st_ino)
            return TAKE_FD(fd);
    }
    return -EBUSY;
}

static int slot_lock(const struct cgroup_system *system, struct slot *slot, struct error *err)
{
    slot->fds[0] = lock_slot_dir(system->hierarchies[0].base_fd, slot->name);
    if (slot->fds[0] == -EBUSY)
        return -EBUSY;
    if (slot->fds[0] < 0)
        return error_set_errno(err, -slot->fds[0], "make and lock cgroup %s/%s",
                               system->hierarchies[0].path, slot->name);
    for (size_t i = 1; i < system->count; i++) {
        slot->fds[i] = open_slot_dir(system->hierarchies[i].base_fd, slot->name);
        if (slot->fds[i] < 0)
            return error_set_errno(err, -slot->fds[i], "make cgroup %s/%s",
                                   system->hierarchies[i].path, slot->name);
    }
    return 0;
}

static void slot_remove(const struct cgroup_system *system, const struct slot *slot)
{
    /* The locked one last: the others are safe under its lock. */
    for (size_t i = system->count; i > 0; i--)
        (void)unlinkat(system->hierarchies[i - 1].base_fd, slot->name, AT_REMOVEDIR);
}

static int slot_sweep(const struct cgroup_system *system, const struct slot *slot)
{
    unsigned int swept = 0;
    uint64_t until_ns = clock_boottime_ns() + MAX_SWEEP_AT_START_MS * UINT64_C(1000000);
    int r = sweep_slot(slot->fds, system->count, until_ns, &swept);
    if (r < 0)
        log_event(LOG_LEVEL_WARN, "an earlier jailer's sandboxes can't be swept, left alone",
                  LOG_TEXT("cgroup", slot->name));
    else if (swept > 0)
        log_event(LOG_LEVEL_INFO, "swept what an earlier jailer left",
                  LOG_TEXT("cgroup", slot->name), LOG_NUMBER("sandboxes", swept));
    return r;
}

static void slot_adopt(struct cgroup_system *system, struct slot *slot, unsigned int number)
{
    system->slot = number;
    memcpy(system->slot_name, slot->name, sizeof(system->slot_name));
    for (size_t i = 0; i < system->count; i++)
        system->hierarchies[i].slot_fd = TAKE_FD(slot->fds[i]);
}

/* 1: it is ours now, 0: go on. */
static int slot_try(struct cgroup_system *system, unsigned int number, bool adopt,
                    struct error *err)
{
    struct slot slot = {.fds = {-1, -1, -1, -1}};
    (void)snprintf(slot.name, sizeof(slot.name), "jailer-%u", number);
    bool existed = slot_exists(system, slot.name);
    if (!existed && !adopt)
        return 0;
    int r = slot_lock(system, &slot, err);
    if (r == -EBUSY)
        r = 0;
    else if (r >= 0 && existed && slot_sweep(system, &slot) < 0)
        r = 0; /* its lock goes, its uids stay out of use */
    else if (r >= 0 && adopt)
        r = 1;
    else if (r >= 0)
        slot_remove(system, &slot);
    if (r == 1)
        slot_adopt(system, &slot, number);
    slot_close(&slot);
    return r;
}

int cgroup_slot_claim(struct cgroup_system *system, struct error *err)
{
    bool claimed = false;
    for (unsigned int number = 0; number < MAX_JAILERS; number++) {
        int r = slot_try(system, number, !claimed, err);
        if (r < 0)
            return r;
        claimed = claimed || r == 1;
    }
    if (!claimed)
        return error_set(err, EBUSY, "%u jailers are at work below cgroup %s already", MAX_JAILERS,
                         system->hierarchies[0].path);
    return 0;
}

void cgroup_slot_release(struct cgroup_system *system)
{
    if (system->count == 0 || system->hierarchies[0].slot_fd < 0)
        return;
    struct slot slot = {.fds = {-1, -1, -1, -1}};
    memcpy(slot.name, system->slot_name, sizeof(slot.name));
    slot_remove(system, &slot);
    for (size_t i = 0; i < system->count; i++)
        system->hierarchies[i].slot_fd = fd_close(system->hierarchies[i].slot_fd);
}
