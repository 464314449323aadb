/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/limits.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static _Noreturn void run_child(check_trial_fn fn, const void *arg, int report_fd)
{
    struct error err = {0};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int r = fn(arg, &err);
    if (r < 0 && err.code == 0)
        (void)error_set_errno(&err, -r, "try it");
    (void)fd_write_full(report_fd, &err, sizeof(err));
    _exit(EXIT_SUCCESS);
}

/* What the child has reported; without a word from it, why. */
static int read_report(int report_fd, struct error *err)
{
    struct error report = {0};
    struct pollfd readable = {.fd = report_fd, .events = POLLIN};
    int n = 0;
    do {
        n = poll(&readable, 1, TRIAL_WITHIN_MS);
    } while (n < 0 && errno == EINTR);
    if (n == 0)
        return error_set(err, ETIMEDOUT, "the trial took longer than %d ms", TRIAL_WITHIN_MS);
    if (fd_read_full(report_fd, &report, sizeof(report)) != (ssize_t)sizeof(report))
        return error_set(err, ECHILD, "the trial's process was killed");
    return report.code == 0 ? 0 : error_set(err, report.code, "%s", report.text);
}

int check_trial(check_trial_fn fn, const void *arg, struct error *err)
{
    int fds[2];
    int r = fd_pipe(fds, 0);
    if (r < 0)
        return error_set_errno(err, -r, "make a pipe");
    cleanup_close int read_fd = fds[0];
    cleanup_close int write_fd = fds[1];
    pid_t pid = fork();
    if (pid < 0)
        return error_set_errno(err, errno, "start a process");
    if (pid == 0)
        run_child(fn, arg, write_fd);
    write_fd = fd_close(write_fd);
    r = read_report(read_fd, err);
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return r;
}

void check_try(const struct check_subject *subject, const struct check_kind *kind,
               check_trial_fn fn, const void *arg, const char *figure)
{
    struct error err = {0};
    if (subject->obstacle)
        check_add_skipped(subject->checks, kind, subject->obstacle);
    else
        check_add_result(subject->checks, kind, check_trial(fn, arg, &err), &err, figure);
}
