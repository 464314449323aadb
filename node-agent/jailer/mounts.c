/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/mounts.h"

#include "common/cleanup.h"

#include <fcntl.h>
#include <string.h>

#define RESOLV_CONF        "/etc/resolv.conf"
#define RESOLV_CONF_SOURCE "/tmp/.resolv.conf"

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
    unsigned long long size = memory_bytes / MOUNTS_TMPFS_SHARE;
    ret_plan->resolv_conf[0] = '\0';
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++)
        (void)snprintf(ret_plan->options[i], sizeof(ret_plan->options[i]),
                       "size=%llu,nr_inodes=%u,mode=%s,uid=%u,gid=%u", size, MAX_TMPFS_INODES,
                       places[i].mode, owner, owner);
}

void mounts_plan_resolver(struct mounts_plan *plan, const char *address)
{
    (void)snprintf(plan->resolv_conf, sizeof(plan->resolv_conf),
                   "nameserver %s\noptions timeout:2 attempts:2\n", address);
}

static int write_resolv_conf(const char *text, struct error *err)
{
    int fd = open(RESOLV_CONF_SOURCE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0)
        return error_set(err, errno, "make " RESOLV_CONF_SOURCE);
    size_t len = strlen(text);
    int r = write(fd, text, len) == (ssize_t)len
                ? 0
                : error_set(err, errno, "write " RESOLV_CONF_SOURCE);
    (void)fd_close(fd);
    return r;
}

/* The root is read-only, and the same for all: so a file of the run's own /tmp lies over the one
 * there, and its name in /tmp goes. */
static int mount_resolv_conf(const char *text, struct error *err)
{
    int r = write_resolv_conf(text, err);
    if (r < 0)
        return r;
    if (mount(RESOLV_CONF_SOURCE, RESOLV_CONF, NULL, MS_BIND, NULL) < 0)
        return error_set(err, errno, "bind " RESOLV_CONF ", which the runtime must have as a file");
    if (mount(NULL, RESOLV_CONF, NULL,
              MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return error_set(err, errno, "make " RESOLV_CONF " read-only");
    return unlink(RESOLV_CONF_SOURCE) < 0 ? error_set(err, errno, "remove " RESOLV_CONF_SOURCE) : 0;
}

int mounts_enter(const struct mounts_plan *plan, struct error *err)
{
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++) {
        if (mount("tmpfs", places[i].path, "tmpfs", MS_NOSUID | MS_NODEV, plan->options[i]) < 0)
            return error_set(err, errno, "%s", places[i].step);
    }
    if (mount("proc", "/proc", "proc", MOUNTS_PROC_FLAGS, MOUNTS_PROC_OPTIONS) < 0)
        return error_set(err, errno, "mount /proc");
    return plan->resolv_conf[0] ? mount_resolv_conf(plan->resolv_conf, err) : 0;
}

int mounts_open(enum mounts_tmpfs place, struct error *err)
{
    int fd = open(places[place].path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? error_set(err, errno, "open %s", places[place].path) : fd;
}

int mounts_enter_home(struct error *err)
{
    return chdir(JAIL_HOME) < 0 ? error_set(err, errno, "enter " JAIL_HOME) : 0;
}
