/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/prefetch.h"

#include "common/cleanup.h"
#include "node-agent/jailer/helper.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

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

static int prefetch_main(const void *arg)
{
    const struct runtimes *runtimes = arg;
    for (size_t i = 0; i < runtimes->count; i++)
        read_tree(runtimes->entries[i].root_fd, ".", 0);
    return EXIT_SUCCESS;
}

static void on_helper_exit(uint32_t events, void *arg)
{
    (void)events;
    prefetch_stop(arg);
}

int prefetch_start(struct prefetch *prefetch, struct events *events,
                   const struct runtimes *runtimes, struct error *err)
{
    *prefetch = (struct prefetch){.source = EVENT_SOURCE_INIT, .events = events};
    int keep[PROTO_MAX_RUNTIMES];
    for (size_t i = 0; i < runtimes->count; i++)
        keep[i] = runtimes->entries[i].root_fd;
    int pidfd =
        helper_start("prefetch", HELPER_FILES, keep, runtimes->count, prefetch_main, runtimes);
    if (pidfd < 0)
        return error_set_errno(err, -pidfd, "start the process that reads the runtimes");
    int r = events_add(events, &prefetch->source, pidfd, EPOLLIN, on_helper_exit, prefetch);
    if (r < 0) {
        helper_end(pidfd);
        return error_set_errno(err, -r, "watch the process that reads the runtimes");
    }
    return 0;
}

void prefetch_stop(struct prefetch *prefetch)
{
    if (prefetch->events)
        helper_end(events_remove(prefetch->events, &prefetch->source));
}
