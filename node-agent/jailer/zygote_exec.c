/* SPDX-License-Identifier: Apache-2.0 */

/* From a fork of the jailer to an interpreter that owns nothing but its family. */
#include "node-agent/jailer/zygote_exec.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/payload.h"
#include "node-agent/zygote/zygote_image.h"

#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* In its user namespace alone, for what its children do before they give all of it up. */
static const unsigned int capabilities[] = {CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_SETUID, CAP_SETGID,
                                            CAP_SETPCAP};

#define OOM_SCORE_ADJ "1000"

static int enter_cgroup(const struct zygote_plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->entrance_count; i++) {
        if (write(plan->entrance_fds[i], "0", 1) != 1)
            return error_set_errno(err, errno, "enter its cgroup");
    }
    int r = fd_write_attr(plan->proc_fd, "self/oom_score_adj", OOM_SCORE_ADJ);
    if (r < 0)
        return error_set_errno(err, -r, "set oom_score_adj");
    return rlimits_enter(&plan->rlimits, err);
}

/* No cgroup namespace of its own: the kernel would not let it clone a child out of it. Its pid
 * namespace is the jailer's, whose children its own are to be. */
static int enter_family(const struct family *family, struct error *err)
{
    if (setns(family->user_ns_fd, CLONE_NEWUSER) < 0)
        return error_set_errno(err, errno, "enter the family's user namespace");
    if (setns(family->mount_ns_fd, CLONE_NEWNS) < 0)
        return error_set_errno(err, errno, "enter the family's mount namespace");
    /* A copy, for what its children are not to see. */
    if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET) < 0)
        return error_set_errno(err, errno, "make namespaces of its own");
    return 0;
}

static int become(uid_t uid, gid_t gid, struct error *err)
{
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "keep the capabilities while changing ids");
    if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, gid, gid, gid) < 0 ||
        syscall(SYS_setresuid, uid, uid, uid) < 0)
        return error_set_errno(err, errno, "become uid %u and gid %u", uid, gid);
    return 0;
}

static int lay_out(const char *path, mode_t mode, const char *image, uint64_t size,
                   struct error *err)
{
    cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return error_set_errno(err, errno, "make %s", path);
    int r = fd_write_full(fd, image, (size_t)size);
    return r < 0 ? error_set_errno(err, -r, "write %s", path) : 0;
}

/* Who may execute the reaper may not read it: so it isn't dumpable before it says so itself
 * (would_dump() in the kernel's fs/exec.c). */
static int lay_out_files(struct error *err)
{
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=4,mode=700") < 0)
        return error_set_errno(err, errno, "mount a tmpfs on /tmp");
    (void)umask(022);
    int r = lay_out(PAYLOAD_ZYGOTE_MODULE, 0555, zygote_image, zygote_image_size, err);
    return r < 0 ? r : lay_out(PAYLOAD_ZYGOTE_REAPER, 0111, reaper_image, reaper_image_size, err);
}

/* Ambient, or they would end with execve(), since it isn't root (capabilities(7)). */
static int keep_capabilities(struct error *err)
{
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
        struct __user_cap_data_struct *set = &sets[CAP_TO_INDEX(capabilities[i])];
        set->effective |= CAP_TO_MASK(capabilities[i]);
        set->permitted |= CAP_TO_MASK(capabilities[i]);
        set->inheritable |= CAP_TO_MASK(capabilities[i]);
    }
    int r = caps_set(sets);
    if (r < 0)
        return error_set_errno(err, -r, "give up capabilities");
    for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capabilities[i], 0, 0) < 0)
            return error_set_errno(err, errno, "keep capability %u", capabilities[i]);
    }
    return 0;
}

/* The change of ids has cleared it; and the jailer's end is the zygote's. A process group of its
 * own, by which the jailer finds children of which it has not heard (zygote_lost()). */
static int bind_to_parent(struct error *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "set the parent death signal");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "set no_new_privs");
    return setpgid(0, 0) < 0 ? error_set_errno(err, errno, "make a process group") : 0;
}

static int arrange_descriptors(const struct zygote_plan *plan, struct error *err)
{
    sigset_t none;
    (void)sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return error_set_errno(err, errno, "unblock signals");
    if (chdir(JAIL_HOME) < 0)
        return error_set_errno(err, errno, "enter " JAIL_HOME);
    int status_fd = fcntl(plan->output_fd, F_DUPFD_CLOEXEC, 0);
    if (status_fd < 0)
        return error_set_errno(err, errno, "duplicate a descriptor");
    return descriptors_arrange(plan->sock, plan->output_fd, plan->output_fd, &status_fd, err);
}

static int set_up(const struct zygote_plan *plan, struct error *err)
{
    int keep[MAX_CGROUP_HIERARCHIES + 5] = {plan->family.user_ns_fd, plan->family.mount_ns_fd,
                                            plan->proc_fd, plan->sock, plan->output_fd};
    for (size_t i = 0; i < plan->entrance_count; i++)
        keep[5 + i] = plan->entrance_fds[i];
    int r = descriptors_keep(STDERR_FILENO + 1, keep, 5 + plan->entrance_count, err);
    if (r >= 0)
        r = enter_cgroup(plan, err);
    if (r >= 0)
        r = enter_family(&plan->family, err);
    if (r >= 0)
        r = become(plan->uid, plan->gid, err);
    if (r >= 0)
        r = lay_out_files(err);
    if (r >= 0)
        r = keep_capabilities(err);
    if (r >= 0)
        r = bind_to_parent(err);
    return r < 0 ? r : arrange_descriptors(plan, err);
}

_Noreturn void zygote_exec(const struct zygote_plan *plan)
{
    struct payload payload;
    struct error err = {0};
    payload_plan(&payload, true);
    if (set_up(plan, &err) >= 0) {
        (void)execve(payload.argv[0], payload.argv, payload.env);
        (void)error_set_errno(&err, errno, "execute " PAYLOAD_PROGRAM);
        (void)!write(STDERR_FILENO, err.text, strlen(err.text));
        _exit(EXIT_FAILURE);
    }
    (void)!write(plan->output_fd, err.text, strlen(err.text));
    _exit(EXIT_FAILURE);
}
