/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All that runs between clone and exec. The process is a copy of a larger program, so nothing
 * here allocates, takes a lock or touches stdio; tests/unit/jailer reads the symbols that these
 * objects need and fails on any other than system calls and plain functions on memory.
 *
 *   jailer --clone3--> process 1: every lock that both share
 *                      |--clone(VM|VFORK)--> process 2: session, Landlock, descriptors, filter,
 *                      |                     REPORT_LISTENER, execve
 *                      |   (process 1 stands still until then: no page is copied)
 *                      `--> descriptors, its own filter, REPORT_SEALED, reaper_run()
 *
 * The two share their memory, and neither descriptors nor locks: the listener of the program's
 * filter is in process 2 alone, from its making to its sending, and the program finds it closed.
 */
#include "node-agent/jailer/child.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/child_steps.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/namespaces.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/reaper.h"
#include "node-agent/jailer/report.h"
#include "node-agent/jailer/seccomp_load.h"
#include "node-agent/jailer/userns.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define CHILD_FAILED 92

/* What the program's few calls before execve() need. */
#define PAYLOAD_STACK_SIZE 32768

/* The victim of choice, should the whole machine run out of memory. */
#define OOM_SCORE_ADJ "1000"

struct child {
    const struct jail_spec *spec;
    int status_fd;
};

static _Noreturn void child_fail(const struct child *child, enum jail_lock lock,
                                 const struct error *err)
{
    struct report report = {.kind = REPORT_FAILED, .lock = lock, .error = *err};
    ssize_t n = 0;
    do {
        n = write(child->status_fd, &report, sizeof(report));
    } while (n < 0 && errno == EINTR);
    _exit(CHILD_FAILED);
}

/* Everything of the jailer's that the child has no use for goes first: as long as it held the
 * other sandboxes' pipes, their ends would not be seen. */
static int close_inherited(const struct jail_spec *spec, struct error *err)
{
    int keep[JAIL_FD_COUNT + MAX_CGROUP_HIERARCHIES];
    memcpy(keep, spec->fds, sizeof(spec->fds));
    memcpy(keep + JAIL_FD_COUNT, spec->tasks_fds, spec->tasks_count * sizeof(int));
    return descriptors_keep(STDERR_FILENO + 1, keep, JAIL_FD_COUNT + spec->tasks_count, err);
}

/* v1: a single-threaded process that moves itself by `tasks` takes no global lock and waits for no
 * RCU grace period, as the parent would for it. On v2 it was born inside. */
static int enter_cgroups(const struct jail_spec *spec, struct error *err)
{
    for (size_t i = 0; i < spec->tasks_count; i++) {
        if (write(spec->tasks_fds[i], "0", 1) != 1)
            return error_set(err, errno, "enter the cgroup");
    }
    return 0;
}

static int enter_namespaces(const struct jail_spec *spec, struct error *err)
{
    return namespaces_enter(spec->fds[JAIL_FD_MOUNT_NS], spec->fds[JAIL_FD_NET_NS], err);
}

static int enter_mounts(const struct jail_spec *spec, struct error *err)
{
    (void)umask(022);
    return mounts_enter(&spec->mounts, err);
}

static int show_places(const struct jail_spec *spec, struct error *err)
{
    for (unsigned int i = 0; spec->shows_places && i < MOUNTS_TMPFS_COUNT; i++) {
        int fd = mounts_open((enum mounts_tmpfs)i, err);
        if (fd < 0)
            return fd;
        const struct report report = {.kind = REPORT_PLACE, .place = i};
        int r = pass_fd_send(spec->fds[JAIL_FD_STATUS], &report, sizeof(report), fd);
        (void)fd_close(fd);
        if (r < 0)
            return error_set(err, -r, "hand over a file system");
    }
    return 0;
}

static int enter_rlimits(const struct jail_spec *spec, struct error *err)
{
    int r = fd_write_attr(spec->fds[JAIL_FD_PROC], "self/oom_score_adj", OOM_SCORE_ADJ);
    if (r < 0)
        return error_set(err, -r, "set oom_score_adj");
    return rlimits_enter(&spec->rlimits, err);
}

static int enter_user_namespace(const struct jail_spec *spec, struct error *err)
{
    int r = userns_enter(spec->fds[JAIL_FD_PROC], spec->outer_id, err);
    return r < 0 ? r : mounts_enter_home(err);
}

static int drop_capabilities(const struct jail_spec *spec, struct error *err)
{
    return caps_drop_all(spec->last_capability, err);
}

/* For process 1 alone: the program's fork does not inherit the first, its execve() undoes the
 * second. The death signal after the change of ids, which clears it. */
static int bind_to_parent(const struct jail_spec *spec, struct error *err)
{
    (void)spec;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return error_set(err, errno, "set the parent death signal");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return error_set(err, errno, "clear the dumpable bit");
    return 0;
}

static int set_no_new_privs(const struct jail_spec *spec, struct error *err)
{
    (void)spec;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_set(err, errno, "set no_new_privs");
    return 0;
}

/* The order is the jail's: a later step would undo or forbid an earlier one. Mounts need the
 * capabilities that the user namespace takes; the new user namespace fills every capability set,
 * so they are emptied behind it. */
const struct child_step child_steps[] = {
    {JAIL_LOCK_DESCRIPTORS, close_inherited},
    {JAIL_LOCK_CGROUP, enter_cgroups},
    {JAIL_LOCK_NAMESPACES, enter_namespaces},
    {JAIL_LOCK_MOUNTS, enter_mounts},
    {JAIL_LOCK_MOUNTS, show_places},
    {JAIL_LOCK_RLIMITS, enter_rlimits},
    {JAIL_LOCK_USER_NAMESPACE, enter_user_namespace},
    {JAIL_LOCK_CAPABILITIES, drop_capabilities},
    {JAIL_LOCK_PARENT_DEATH, bind_to_parent},
    {JAIL_LOCK_NO_NEW_PRIVS, set_no_new_privs},
};

const size_t child_steps_count = ARRAY_SIZE(child_steps);

/* The last lock. What it refuses from here on waits for the jailer, which has the listener in its
 * socket before the program has begun. */
static int set_filter(const struct child *child, struct error *err)
{
    int fd = seccomp_load_listened(child->spec->payload_policy, err);
    if (fd < 0)
        return fd;
    const struct report report = {.kind = REPORT_LISTENER};
    int r = pass_fd_send(child->status_fd, &report, sizeof(report), fd);
    (void)fd_close(fd);
    return r < 0 ? error_set(err, -r, "hand over the filter's listener") : 0;
}

/* Process 2, on a stack of its own in process 1's memory, until execve(). */
static int payload_main(void *arg)
{
    struct child child = *(const struct child *)arg;
    const struct jail_spec *spec = child.spec;
    struct error err = {0};

    /* The jailer takes its signals from a descriptor; the program gets the usual mask. */
    sigset_t none;
    (void)sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || setsid() < 0) {
        (void)error_set(&err, errno, "start a session");
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    }
    if (landlock_enter(&spec->landlock, &err) < 0)
        child_fail(&child, JAIL_LOCK_LANDLOCK, &err);
    if (descriptors_arrange(spec->fds[JAIL_FD_REQUEST], spec->fds[JAIL_FD_STDOUT],
                            spec->fds[JAIL_FD_STDERR], &child.status_fd, &err) < 0)
        child_fail(&child, JAIL_LOCK_DESCRIPTORS, &err);
    if (set_filter(&child, &err) < 0)
        child_fail(&child, JAIL_LOCK_SECCOMP, &err);
    (void)execve(spec->payload.argv[0], spec->payload.argv, spec->payload.env);
    (void)error_set(&err, errno, "execute " PAYLOAD_PROGRAM);
    child_fail(&child, JAIL_LOCK_EXEC, &err);
}

static pid_t start_payload(struct child *child)
{
    char stack[PAYLOAD_STACK_SIZE] __attribute__((aligned(16)));
    return clone(payload_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, child);
}

static void seal_reaper(struct child *child, int signal_fd)
{
    const struct jail_spec *spec = child->spec;
    struct error err = {0};
    (void)prctl(PR_SET_NAME, "reaper", 0, 0, 0);
    const int keep[] = {child->status_fd, spec->fds[JAIL_FD_EXIT], spec->fds[JAIL_FD_LIFELINE],
                        spec->fds[JAIL_FD_BACKSTOP], signal_fd};
    if (descriptors_keep(STDIN_FILENO, keep, ARRAY_SIZE(keep), &err) < 0)
        child_fail(child, JAIL_LOCK_DESCRIPTORS, &err);
    if (seccomp_load(spec->reaper_policy, &err) < 0)
        child_fail(child, JAIL_LOCK_SECCOMP, &err);

    struct report report = {.kind = REPORT_SEALED};
    if (write(child->status_fd, &report, sizeof(report)) != (ssize_t)sizeof(report))
        _exit(CHILD_FAILED);
    child->status_fd = fd_close(child->status_fd);
}

_Noreturn void child_run(const struct jail_spec *spec)
{
    struct child child = {.spec = spec, .status_fd = spec->fds[JAIL_FD_STATUS]};
    struct error err = {0};
    for (size_t i = 0; i < ARRAY_SIZE(child_steps); i++) {
        if (child_steps[i].set(spec, &err) < 0)
            child_fail(&child, child_steps[i].lock, &err);
    }
    int signal_fd = reaper_open_signal_fd();
    if (signal_fd < 0) {
        (void)error_set(&err, -signal_fd, "open a signal descriptor");
        child_fail(&child, JAIL_LOCK_DESCRIPTORS, &err);
    }
    pid_t main_pid = start_payload(&child);
    if (main_pid < 0) {
        (void)error_set(&err, errno, "start process 2");
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    }
    seal_reaper(&child, signal_fd);
    const struct reaper_fds watched = {
        .signal_fd = signal_fd,
        .lifeline_fd = spec->fds[JAIL_FD_LIFELINE],
        .backstop_fd = spec->fds[JAIL_FD_BACKSTOP],
        .exit_fd = spec->fds[JAIL_FD_EXIT],
    };
    reaper_run(main_pid, &watched);
}
