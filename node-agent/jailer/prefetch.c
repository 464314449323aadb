/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/prefetch.h"

#include "common/cleanup.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_DEPTH 32

static void read_file(int dir_fd, const char *name)
{
    cleanup_close int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
}

static void read_tree(int parent_fd, const char *name, unsigned int depth)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        (void)fd_close(fd);
        return;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type == DT_REG)
            read_file(fd, entry->d_name);
        else if (entry->d_type == DT_DIR && depth < MAX_DEPTH)
            read_tree(fd, entry->d_name, depth + 1);
    }
    (void)closedir(dir);
}

static _Noreturn void prefetch_run(const struct runtimes *runtimes)
{
    /* Gone with the jailer, and without its locks and sockets. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_NAME, "prefetch", 0, 0, 0);
    const struct sched_param idle = {0};
    (void)sched_setscheduler(0, SCHED_IDLE, &idle);
    int keep[PROTO_MAX_RUNTIMES];
    for (size_t i = 0; i < runtimes->count; i++)
        keep[i] = runtimes->entries[i].root_fd;
    if (descriptors_keep(STDERR_FILENO + 1, keep, runtimes->count, NULL) < 0)
        _exit(EXIT_FAILURE);
    for (size_t i = 0; i < runtimes->count; i++)
        read_tree(runtimes->entries[i].root_fd, ".", 0);
    _exit(EXIT_SUCCESS);
}

static void on_exit_of_helper(uint32_t events, void *arg)
{
    (void)events;
    prefetch_stop(arg);
}

int prefetch_start(struct prefetch *prefetch, struct events *events,
                   const struct runtimes *runtimes, struct error *err)
{
    *prefetch = (struct prefetch){.source = EVENT_SOURCE_INIT, .events = events};
    pid_t pid = fork();
    if (pid < 0)
        return error_set_errno(err, errno, "start the process that reads the runtimes");
    if (pid == 0)
        prefetch_run(runtimes);
    cleanup_close int pidfd = pidfd_open(pid, 0);
    if (pidfd < 0)
        return error_set_errno(err, errno, "watch the process that reads the runtimes");
    int r = events_add(events, &prefetch->source, pidfd, EPOLLIN, on_exit_of_helper, prefetch);
    if (r < 0)
        return error_set_errno(err, -r, "watch the process that reads the runtimes");
    (void)TAKE_FD(pidfd);
    return 0;
}

void prefetch_stop(struct prefetch *prefetch)
{
    int pidfd = prefetch->events ? events_remove(prefetch->events, &prefetch->source) : -1;
    if (pidfd < 0)
        return;
    siginfo_t info;
    (void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    (void)fd_close(pidfd);
}
