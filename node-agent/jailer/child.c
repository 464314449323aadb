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
#include "node-agent/jailer/child_internal.h"

#include <sched.h>
#include <signal.h>

/* What the program's few calls before execve() need. */
#define PAYLOAD_STACK_SIZE 32768

/* Process 2, on a stack of its own in process 1's memory, until execve(). */
static int payload_main(void *arg)
{
    struct child child = *(const struct child *)arg;
    const struct payload *payload = &child.spec->payload;
    struct error err = {0};
    child_lock_program(&child);
    (void)execve(payload->argv[0], payload->argv, payload->env);
    (void)error_set(&err, errno, "execute " PAYLOAD_PROGRAM);
    child_fail(&child, JAIL_LOCK_EXEC, &err);
}

static pid_t start_payload(struct child *child)
{
    char stack[PAYLOAD_STACK_SIZE] __attribute__((aligned(16)));
    return clone(payload_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, child);
}

_Noreturn void child_run(const struct jail_spec *spec)
{
    struct child child = {.spec = spec, .status_fd = spec->fds[JAIL_FD_STATUS]};
    int signal_fd = child_lock_both(&child);
    pid_t main_pid = start_payload(&child);
    if (main_pid < 0) {
        struct error err = {0};
        (void)error_set(&err, errno, "start process 2");
        child_fail(&child, JAIL_LOCK_EXEC, &err);
    }
    child_reap(&child, signal_fd, main_pid);
}
