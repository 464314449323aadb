/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/zygote/child_fork.h"

#include "common/cleanup.h"
#include "node-agent/jailer/child_internal.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/reaper/reaper_start.h"
#include "node-agent/zygote/rseq.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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

/* The zygote isn't dumpable, and what is not has a /proc/self that is root's. The bit is the
 * memory's: process 1, which shares the zygote's, clears it behind its writing there, and the
 * zygote in any case; process 2 is as if execve() had made it. */
static int show_self(struct error *err)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? error_set(err, errno, "set the dumpable bit")
                                                  : 0;
}

/* The end of what process 1 has of the zygote: it goes on with a memory of its own. */
static _Noreturn void become_reaper(struct child *child, int signal_fd)
{
    const int *fds = child->spec->fds;
    const int from[] = {[REAPER_FD_STATUS] = child->status_fd,
                        [REAPER_FD_EXIT] = fds[JAIL_FD_EXIT],
                        [REAPER_FD_LIFELINE] = fds[JAIL_FD_LIFELINE],
                        [REAPER_FD_BACKSTOP] = fds[JAIL_FD_BACKSTOP],
                        [REAPER_FD_SIGNAL] = signal_fd,
                        [REAPER_FD_COUNT] = fds[JAIL_FD_REAPER]};
    /* execve() ends handlers and leaves what is ignored, of which this one would keep from the
     * reaper that the program has ended. */
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    char *argv[] = {(char[]){"reaper"}, NULL};
    char *env[] = {NULL};
    struct error err = {0};
    (void)sigaction(SIGCHLD, &usual, NULL);
    if (descriptors_place(from, ARRAY_SIZE(from), REAPER_FD_COUNT, &err) < 0)
        child_fail(child, JAIL_LOCK_DESCRIPTORS, &err);
    child->status_fd = REAPER_FD_STATUS;
    (void)syscall(SYS_execveat, REAPER_FD_COUNT, "", argv, env, AT_EMPTY_PATH);
    (void)error_set(&err, errno, "execute the reaper");
    child_fail(child, JAIL_LOCK_EXEC, &err);
}

/* In the zygote's memory; process 2 has a copy that nobody asks. */
static volatile bool forking;

bool child_fork_was_cut_short(void)
{
    return forking;
}

/* The C library's, which sets right what it remembers of the process: its lists, its locks, the
 * number of the thread. */
static pid_t fork_main(void)
{
    forking = true;
    pid_t pid = fork();
    if (pid != 0)
        forking = false;
    return pid;
}

void child_fork(const struct jail_spec *spec)
{
    struct child child = {.spec = spec, .status_fd = spec->fds[JAIL_FD_STATUS]};
    struct error err = {0};
    if (say_born(&child, &err) < 0 || show_self(&err) < 0)
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    int signal_fd = child_lock_both(&child);
    pid_t main_pid = fork_main();
    if (main_pid < 0 || (main_pid > 0 && main_pid != REAPER_MAIN_PID)) {
        (void)error_set(&err, main_pid < 0 ? errno : EPROTO, "fork process 2");
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    }
    if (main_pid > 0)
        become_reaper(&child, signal_fd);
    if (show_self(&err) < 0 || rseq_register(&err) < 0)
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    child_lock_program(&child);
    (void)fd_close(child.status_fd);
}
