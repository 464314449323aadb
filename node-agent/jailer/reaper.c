/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/reaper.h"

#include "common/cleanup.h"
#include "node-agent/jailer/report.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

/* Distinctive, for a log that shows process 1's own end. */
enum reaper_exit {
    REAPER_DONE = 0,
    REAPER_ORPHANED = 90,
    REAPER_BROKEN = 91,
    REAPER_OVERDUE = 92,
};

int reaper_open_signal_fd(void)
{
    sigset_t mask;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &mask, NULL) < 0)
        return -errno;
    int fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

static _Noreturn void report_and_exit(int exit_fd, int wait_status)
{
    struct report report = {.kind = REPORT_EXITED, .wait_status = wait_status};
    ssize_t n = 0;
    do {
        n = write(exit_fd, &report, sizeof(report));
    } while (n < 0 && errno == EINTR);
    _exit(n == (ssize_t)sizeof(report) ? REAPER_DONE : REAPER_BROKEN);
}

/* Reaps all that is dead now. */
static void reap(pid_t main_pid, int exit_fd)
{
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
        if (pid == main_pid)
            report_and_exit(exit_fd, status);
        if (pid == 0)
            return;
        /* No child left without the main one's status having been seen: can't be. */
        if (pid < 0 && errno != EINTR)
            _exit(REAPER_BROKEN);
    }
}

_Noreturn void reaper_run(pid_t main_pid, const struct reaper_fds *watched)
{
    struct pollfd fds[] = {
        {.fd = watched->signal_fd, .events = POLLIN},
        {.fd = watched->lifeline_fd, .events = 0}, /* POLLHUP alone */
        {.fd = watched->backstop_fd, .events = POLLIN},
    };
    for (;;) {
        /* First, for the main process may have ended before the signal was blocked. */
        reap(main_pid, watched->exit_fd);
        if (ppoll(fds, ARRAY_SIZE(fds), NULL, NULL) < 0 && errno != EINTR)
            _exit(REAPER_BROKEN);
        if (fds[1].revents)
            _exit(REAPER_ORPHANED);
        if (fds[2].revents)
            _exit(REAPER_OVERDUE);
        struct signalfd_siginfo info;
        while (read(watched->signal_fd, &info, sizeof(info)) > 0)
            continue;
    }
}
