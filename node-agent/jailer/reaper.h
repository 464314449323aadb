/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/*
 * The life of process 1 behind its filter: reaps whatever dies, until the main process does; then
 * writes its wait status to exit_fd and ends, and with it the kernel ends everything in the pid
 * namespace. It ends without a report if the lifeline does, that is when the jailer is gone; or
 * when the timer backstop_fd expires, that is when the jailer has missed the deadline. SIGCHLD is
 * blocked; signal_fd is a nonblocking signalfd(2) for it.
 *
 * System calls made here: ppoll, read, wait4, write, exit_group, close.
 */
struct reaper_fds {
    int signal_fd;
    int lifeline_fd;
    int backstop_fd;
    int exit_fd;
};
_Noreturn void reaper_run(pid_t main_pid, const struct reaper_fds *watched);

/* A signalfd for SIGCHLD, which gets blocked; before the filter. -errno. */
int reaper_open_signal_fd(void);
