/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/child_internal.h"
#include "node-agent/jailer/child_steps.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/reaper.h"
#include "node-agent/jailer/seccomp_load.h"

#include <signal.h>
#include <sys/prctl.h>

#define CHILD_FAILED 92

_Noreturn void child_fail(const struct child *child, enum jail_lock lock, const struct error *err)
{
    struct report report = {.kind = REPORT_FAILED, .lock = lock, .error = *err};
    ssize_t n = 0;
    do {
        n = write(child->status_fd, &report, sizeof(report));
    } while (n < 0 && errno == EINTR);
    _exit(CHILD_FAILED);
}

int child_lock_both(const struct child *child)
{
    struct error err = {0};
    for (size_t i = 0; i < child_steps_count; i++) {
        if (child_steps[i].set(child->spec, &err) < 0)
            child_fail(child, child_steps[i].lock, &err);
    }
    int signal_fd = reaper_open_signal_fd();
    if (signal_fd < 0) {
        (void)error_set(&err, -signal_fd, "open a signal descriptor");
        child_fail(child, JAIL_LOCK_DESCRIPTORS, &err);
    }
    return signal_fd;
}

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

void child_lock_program(struct child *child)
{
    const struct jail_spec *spec = child->spec;
    struct error err = {0};

    /* The jailer takes its signals from a descriptor; the program gets the usual mask. */
    sigset_t none;
    (void)sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || setsid() < 0) {
        (void)error_set(&err, errno, "start a session");
        child_fail(child, JAIL_LOCK_EXEC, &err);
    }
    if (landlock_enter(&spec->landlock, &err) < 0)
        child_fail(child, JAIL_LOCK_LANDLOCK, &err);
    if (descriptors_arrange(spec->fds[JAIL_FD_REQUEST], spec->fds[JAIL_FD_STDOUT],
                            spec->fds[JAIL_FD_STDERR], &child->status_fd, &err) < 0)
        child_fail(child, JAIL_LOCK_DESCRIPTORS, &err);
    if (set_filter(child, &err) < 0)
        child_fail(child, JAIL_LOCK_SECCOMP, &err);
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

_Noreturn void child_reap(struct child *child, int signal_fd, pid_t main_pid)
{
    const struct jail_spec *spec = child->spec;
    seal_reaper(child, signal_fd);
    const struct reaper_fds watched = {
        .signal_fd = signal_fd,
        .lifeline_fd = spec->fds[JAIL_FD_LIFELINE],
        .backstop_fd = spec->fds[JAIL_FD_BACKSTOP],
        .exit_fd = spec->fds[JAIL_FD_EXIT],
    };
    reaper_run(main_pid, &watched);
}
