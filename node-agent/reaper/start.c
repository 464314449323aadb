/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Theory of operation
 *
 * Process 1 of a forked jail is born with a zygote's memory, which would stay with it, and would
 * have to be copied for it and taken down again: four times what all of this program costs. So once
 * it has set the locks and forked process 2, it executes this: reaper_run(), and nothing else.
 *
 * It runs without a C library, for that one's start would take as long as the copy. What
 * reaper_run() calls of one is in system_calls.c. There is no heap, no thread, no argument and no
 * environment; the stack is the kernel's.
 *
 * Its descriptors are those of reaper_start.h. It closes all others, puts on the reaper's filter,
 * says that it is sealed, and reaps. If any of that fails it says so instead and ends, and with it
 * the kernel ends everything in the jail.
 */
#include "node-agent/reaper/reaper_start.h"

#include "common/cleanup.h"
#include "node-agent/jailer/reaper.h"
#include "node-agent/jailer/report.h"
#include "node-agent/jailer/seccomp_load.h"
#include "seccomp/seccomp_policies.h"

#include <limits.h>
#include <sys/prctl.h>
#include <unistd.h>

#define START_FAILED 92

_Noreturn void reaper_start(void);

static _Noreturn void fail(enum jail_lock lock, int errnum, const char *text)
{
    struct report report = {.kind = REPORT_FAILED, .lock = lock, .error.code = errnum};
    for (size_t i = 0; i < MAX_ERROR_TEXT - 1 && text[i] != '\0'; i++)
        report.error.text[i] = text[i];
    (void)!write(REAPER_FD_STATUS, &report, sizeof(report));
    _exit(START_FAILED);
}

/* Nobody inside is to look into it. That its program can't be read (zygote_exec.c) keeps it from
 * the first moment on, but where fs.suid_dumpable is 1. */
static void hide(void)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        fail(JAIL_LOCK_PARENT_DEATH, errno, "clear the dumpable bit");
    (void)prctl(PR_SET_NAME, "reaper", 0, 0, 0);
}

static void seal(void)
{
    if (close_range(REAPER_FD_COUNT, INT_MAX, 0) < 0)
        fail(JAIL_LOCK_DESCRIPTORS, errno, "close the descriptors of a reaper");
    int r = seccomp_set_filter(&seccomp_policy_reaper, 0);
    if (r < 0)
        fail(JAIL_LOCK_SECCOMP, -r, "load the filter reaper");
    const struct report report = {.kind = REPORT_SEALED};
    if (write(REAPER_FD_STATUS, &report, sizeof(report)) != (ssize_t)sizeof(report))
        _exit(START_FAILED);
    (void)close(REAPER_FD_STATUS);
}

_Noreturn void reaper_start(void)
{
    static const struct reaper_fds watched = {
        .signal_fd = REAPER_FD_SIGNAL,
        .lifeline_fd = REAPER_FD_LIFELINE,
        .backstop_fd = REAPER_FD_BACKSTOP,
        .exit_fd = REAPER_FD_EXIT,
    };
    hide();
    seal();
    reaper_run(REAPER_MAIN_PID, &watched);
}
