/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/template.h"

#include "common/cleanup.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

struct device {
    const char *path;
    unsigned int major, minor;
};

/* Linux: Documentation/admin-guide/devices.txt. */
static const struct device devices[] = {
    {"dev/null", 1, 3},   {"dev/zero", 1, 5},    {"dev/full", 1, 7},
    {"dev/random", 1, 8}, {"dev/urandom", 1, 9},
};

struct link {
    const char *target, *path;
};

static const struct link links[] = {
    {"/proc/self/fd", "dev/fd"},
    {"/proc/self/fd/0", "dev/stdin"},
    {"/proc/self/fd/1", "dev/stdout"},
    {"/proc/self/fd/2", "dev/stderr"},
};

/* On the tree at the working directory: private, so that nothing comes in or gets out. */
static int seal_tree(const char *path, uint64_t attributes, struct error *err)
{
    struct mount_attr attr = {
        .attr_set = attributes,
        .propagation = MS_PRIVATE,
    };
    if (mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) < 0)
        return error_set_errno(err, errno, "make %s read-only", path);
    return 0;
}

static int attach_root(int tree_fd, struct error *err)
{
    if (move_mount(tree_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return error_set_errno(err, errno, "attach the root");
    if (fchdir(tree_fd) < 0)
        return error_set_errno(err, errno, "enter the root");
    return 0;
}

static int fill_dev(struct error *err)
{
    if (mount("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=32") < 0)
        return error_set_errno(err, errno, "mount a tmpfs on /dev");
    for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
        const struct device *device = &devices[i];
        if (mknod(device->path, S_IFCHR | 0666, makedev(device->major, device->minor)) < 0)
            return error_set_errno(err, errno, "make /%s", device->path);
    }
    for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
        if (symlink(links[i].target, links[i].path) < 0)
            return error_set_errno(err, errno, "make /%s", links[i].path);
    }
    if (mkdir("dev/shm", 0755) < 0)
        return error_set_errno(err, errno, "make /dev/shm");
    return 0;
}

/* pivot_root(2): with "." for both the old root ends up on top of the new one, and goes. */
static int pivot(struct error *err)
{
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return error_set_errno(err, errno, "pivot into the root");
    if (umount2(".", MNT_DETACH) < 0)
        return error_set_errno(err, errno, "detach the host's file systems");
    if (chdir("/") < 0)
        return error_set_errno(err, errno, "enter the root");
    return 0;
}

/* The kernel's own word that the flags are in force. */
static int verify(const char *path, unsigned long wanted, struct error *err)
{
    struct statvfs st;
    if (statvfs(path, &st) < 0)
        return error_set_errno(err, errno, "read the mount flags of %s", path);
    if ((st.f_flag & wanted) != wanted)
        return error_set(err, EPERM, "the mount flags of %s are %#lx and must have %#lx", path,
                         st.f_flag, wanted);
    return 0;
}

static int build(int tree_fd, struct error *err)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return error_set_errno(err, errno, "make the mounts private");
    int r = attach_root(tree_fd, err);
    /* The umask of whoever started the jailer has no say in device modes. */
    mode_t mask = umask(0);
    if (r >= 0)
        r = fill_dev(err);
    (void)umask(mask);
    if (r >= 0)
        r = pivot(err);
    if (r >= 0)
        r = seal_tree("/", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, err);
    if (r >= 0)
        r = seal_tree("/dev", MOUNT_ATTR_NOEXEC, err);
    if (r < 0)
        return r;
    /* The root alone: /dev is there for its devices. */
    struct mount_attr nodev = {.attr_set = MOUNT_ATTR_NODEV};
    if (mount_setattr(AT_FDCWD, "/", 0, &nodev, sizeof(nodev)) < 0)
        return error_set_errno(err, errno, "forbid devices in the root");
    r = verify("/", ST_RDONLY | ST_NOSUID | ST_NODEV, err);
    if (r >= 0)
        r = verify("/dev", ST_RDONLY | ST_NOSUID | ST_NOEXEC, err);
    return r;
}

int template_make(int proc_fd, struct runtime *runtime, struct error *err)
{
    cleanup_close int own_fd = openat(proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (own_fd < 0)
        return error_set_errno(err, errno, "open the own mount namespace");
    /* A copy of the runtime's own mount without whatever is mounted below it; from here, for a
     * mount can only be cloned in the namespace that it is in. */
    cleanup_close int tree_fd =
        open_tree(runtime->root_fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree_fd < 0)
        return error_set_errno(err, errno, "clone the mount of runtime %s", runtime->name);
    if (unshare(CLONE_NEWNS) < 0)
        return error_set_errno(err, errno, "make a mount namespace");

    int r = build(tree_fd, err);
    int ns_fd = -1;
    if (r >= 0) {
        ns_fd = openat(proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
        if (ns_fd < 0)
            r = error_set_errno(err, errno, "open the template");
    }
    if (setns(own_fd, CLONE_NEWNS) < 0) {
        (void)fd_close(ns_fd);
        return error_set_errno(err, errno, "return to the own mount namespace");
    }
    if (r >= 0)
        runtime->mount_ns_fd = ns_fd;
    return r < 0 ? error_wrap(err, "runtime %s", runtime->name) : 0;
}
