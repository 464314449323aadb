/* SPDX-License-Identifier: Apache-2.0 */

/* Namespaces and mounts, each of them made once as a jail makes it. */
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/namespaces.h"
#include "node-agent/jailer/userns.h"

#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/wait.h>

struct namespace_kind {
    struct check_kind check;
    int flag;
    const char *limit; /* its file in /proc/sys/user */
};

#define ADVICE_NAMESPACE                                                                           \
    "use a kernel that has this kind of namespace, and look for a policy that forbids to make "    \
    "them (AppArmor, SELinux, seccomp, sysctl user.max_*_namespaces)"

static const struct namespace_kind kinds[] = {
    {{"namespace.mount", PROTO_REQUIRED, ADVICE_NAMESPACE}, CLONE_NEWNS, "max_mnt_namespaces"},
    {{"namespace.network", PROTO_REQUIRED, ADVICE_NAMESPACE}, CLONE_NEWNET, "max_net_namespaces"},
    {{"namespace.ipc", PROTO_REQUIRED, ADVICE_NAMESPACE}, CLONE_NEWIPC, "max_ipc_namespaces"},
    {{"namespace.uts", PROTO_REQUIRED, ADVICE_NAMESPACE}, CLONE_NEWUTS, "max_uts_namespaces"},
    {{"namespace.cgroup", PROTO_REQUIRED, ADVICE_NAMESPACE},
     CLONE_NEWCGROUP,
     "max_cgroup_namespaces"},
};

static int make_namespace(const void *arg, struct error *err)
{
    const struct namespace_kind *kind = arg;
    return unshare(kind->flag) < 0 ? error_set_errno(err, errno, "make one") : 0;
}

/* With clone3() in place of a fork, as process 1 of a jail is made; fn runs in process 1. */
struct birth {
    int (*fn)(void);
    const char *step;
};

static int be_born(const void *arg, struct error *err)
{
    const struct birth *birth = arg;
    int pidfd = -1;
    pid_t pid = namespaces_clone(-1, &pidfd);
    if (pid == 0)
        _exit(birth->fn());
    if (pid < 0)
        return error_set_errno(err, -pid, "clone a process into one");
    siginfo_t info = {0};
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    (void)fd_close(pidfd);
    return info.si_status == 0 ? 0 : error_set_errno(err, info.si_status, "%s", birth->step);
}

static int is_process_1(void)
{
    return getpid() == 1 ? 0 : EINVAL;
}

static int prepare_mounts(void)
{
    return unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? errno
                                                                                             : 0;
}

static int mount_proc(void)
{
    int failure = prepare_mounts();
    if (failure == 0 && mount("proc", "/proc", "proc", MOUNTS_PROC_FLAGS, MOUNTS_PROC_OPTIONS) < 0)
        failure = errno;
    /* subset=pid: without the files that are the whole machine's. */
    if (failure == 0 && access("/proc/sys", F_OK) == 0)
        failure = ENOTSUP;
    return failure;
}

static int mount_tmpfs(void)
{
    int failure = prepare_mounts();
    if (failure == 0 &&
        mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=16,mode=1777") < 0)
        failure = errno;
    return failure;
}

static void check_births(const struct check_subject *subject)
{
    static const struct check_kind pid = {"namespace.pid", PROTO_REQUIRED, ADVICE_NAMESPACE};
    static const struct check_kind proc = {
        "mount.proc", PROTO_REQUIRED,
        "use a kernel whose /proc knows subset=pid and hidepid=invisible (5.8 or newer), and look "
        "for a policy that forbids to mount it; in a Pod, appArmorProfile.type: Unconfined"};
    static const struct check_kind tmpfs = {
        "mount.tmpfs", PROTO_REQUIRED,
        "use a kernel with CONFIG_TMPFS, and look for a policy that forbids to mount it; in a "
        "Pod, appArmorProfile.type: Unconfined"};
    const struct birth born = {is_process_1, "be process 1"};
    const struct birth with_proc = {mount_proc, "mount it"};
    const struct birth with_tmpfs = {mount_tmpfs, "mount one"};
    check_try(subject, &pid, be_born, &born, "made, with clone3");
    check_try(subject, &proc, be_born, &with_proc, "mounted with " MOUNTS_PROC_OPTIONS);
    check_try(subject, &tmpfs, be_born, &with_tmpfs, "mounted, with a size and a number of inodes");
}

static int enter_user_namespace(const void *arg, struct error *err)
{
    const struct check_subject *subject = arg;
    const struct options *options = subject->options;
    /* The last of the range: only the 64th jailer of a machine would come that far. */
    int r = userns_enter(subject->proc_fd, options->uid_base + options->uid_count - 1, err);
    if (r == 0)
        return 0;
    struct error step = *err;
    return error_set_errno(err, step.code, "%.*s", MAX_ERROR_TEXT - 1, step.text);
}

static void check_user_namespace(const struct check_subject *subject)
{
    static const struct check_kind kind = {
        "namespace.user", PROTO_REQUIRED,
        "set sysctl user.max_user_namespaces to at least 1, and look for a policy that forbids "
        "them even to CAP_SYS_ADMIN; the capabilities setuid, setgid and setpcap are needed too"};
    check_try(subject, &kind, enter_user_namespace, subject, "made and entered as a sandbox's uid");
}

/* Root makes all of a run's namespaces but the user namespace, which its own uid makes. */
static uint64_t needed_of(const struct check_subject *subject, bool user)
{
    return user ? 1 : subject->options->max_runs;
}

static bool read_limit(const struct check_subject *subject, const char *name, uint64_t *ret_value)
{
    char path[64], text[32];
    (void)snprintf(path, sizeof(path), "sys/user/%s", name);
    return fd_read_attr(subject->proc_fd, path, text, sizeof(text)) >= 0 &&
           parse_u64(text, 0, UINT64_MAX, ret_value) >= 0;
}

static void check_limits(const struct check_subject *subject)
{
    static const char *const others[] = {"max_user_namespaces", "max_pid_namespaces"};
    static const struct check_kind kind = {
        "namespace.limits", PROTO_REQUIRED,
        "raise it with sysctl -w user.NAME=NUMBER: a run takes one of each kind"};
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < ARRAY_SIZE(others) + ARRAY_SIZE(kinds); i++) {
        const char *name = i < ARRAY_SIZE(others) ? others[i] : kinds[i - ARRAY_SIZE(others)].limit;
        uint64_t value = UINT64_MAX, needed = needed_of(subject, i == 0);
        if (!read_limit(subject, name, &value))
            continue;
        if (value < needed) {
            check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED,
                      "%s is %llu and must be at least %llu", name, (unsigned long long)value,
                      (unsigned long long)needed);
            return;
        }
        if (value < lowest)
            lowest = value;
    }
    if (lowest == UINT64_MAX)
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "the kernel tells no limit");
    else
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK,
                  "the lowest of user.max_*_namespaces is %llu", (unsigned long long)lowest);
}

void checks_namespaces(struct check_subject *subject)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        check_try(subject, &kinds[i].check, make_namespace, &kinds[i], "made");
    check_births(subject);
    check_user_namespace(subject);
    check_limits(subject);
}
