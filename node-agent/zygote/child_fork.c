/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/zygote/child_fork.h"

#include "common/cleanup.h"
#include "node-agent/jailer/child_internal.h"
#include "node-agent/jailer/pass_fd.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* By this the jailer, whose child this is, can end and reap it. */
static int say_born(const struct child *child, struct error *err)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        return error_set(err, errno, "open process 1's own pidfd");
    const struct report report = {.kind = REPORT_BORN};
    int r = pass_fd_send(child->status_fd, &report, sizeof(report), fd);
    (void)fd_close(fd);
    return r < 0 ? error_set(err, -r, "hand over the pidfd of process 1") : 0;
}

/* The zygote isn't dumpable, and what is not has a /proc/self that is root's. Process 1 becomes so
 * again behind its writing there, process 2 is as if execve() had made it. */
static int show_self(struct error *err)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? error_set(err, errno, "set the dumpable bit")
                                                  : 0;
}

/* The interpreter's own handlers are for process 2, which goes on as an interpreter. */
static void forget_handlers(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int signum = 1; signum < NSIG; signum++)
        (void)sigaction(signum, &action, NULL);
}

void child_fork(const struct jail_spec *spec)
{
    struct child child = {.spec = spec, .status_fd = spec->fds[JAIL_FD_STATUS]};
    struct error err = {0};
    if (say_born(&child, &err) < 0 || show_self(&err) < 0)
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    int signal_fd = child_lock_both(&child);
    /* The C library's, which sets right what it remembers of the process: its lists, its locks, the
     * number of the thread. */
    pid_t main_pid = fork();
    if (main_pid < 0) {
        (void)error_set(&err, errno, "fork process 2");
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    }
    if (main_pid > 0) {
        forget_handlers();
        child_reap(&child, signal_fd, main_pid);
    }
    if (show_self(&err) < 0)
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    child_lock_program(&child);
    (void)fd_close(child.status_fd);
}
