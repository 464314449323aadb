/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/sweep.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/parse.h"
#include "node-agent/jailer/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

#define PROCS_PATH_SIZE 320

static int read_procs(int slot_fd, const char *id, struct buf *text)
{
    char path[PROCS_PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", id);
    buf_reset(text);
    return fd_read_file(slot_fd, path, true, text);
}

/* The next pid of the list at *at; 0 at its end. Pid 0 in the list is a process of another pid
 * namespace, which can't be named. */
static pid_t next_pid(const char **at)
{
    while (**at) {
        char line[16];
        size_t len = strcspn(*at, "\n");
        uint64_t pid = 0;
        bool fits = len < sizeof(line);
        if (fits) {
            memcpy(line, *at, len);
            line[len] = '\0';
        }
        *at += len + ((*at)[len] == '\n' ? 1 : 0);
        if (fits && parse_u64(line, 1, INT32_MAX, &pid) >= 0)
            return (pid_t)pid;
    }
    return 0;
}

static bool list_has(const char *list, pid_t wanted)
{
    for (pid_t pid = next_pid(&list); pid > 0; pid = next_pid(&list)) {
        if (pid == wanted)
            return true;
    }
    return false;
}

int sweep_kill(int slot_fd, const char *id, int *ret_pidfds, size_t *ret_count)
{
    cleanup_buf struct buf first = BUF_INIT(MAX_PROC_FILE);
    cleanup_buf struct buf again = BUF_INIT(MAX_PROC_FILE);
    int pidfds[MAX_SWEPT_PIDS_A_ROUND];
    pid_t pids[MAX_SWEPT_PIDS_A_ROUND];
    size_t count = 0, kept = 0;
    int r = read_procs(slot_fd, id, &first);
    if (r < 0)
        return r;
    const char *at = buf_str(&first);
    for (pid_t pid = next_pid(&at); pid > 0 && count < MAX_SWEPT_PIDS_A_ROUND;
         pid = next_pid(&at)) {
        int pidfd = pidfd_open(pid, 0);
        if (pidfd < 0)
            continue;
        pidfds[count] = pidfd;
        pids[count++] = pid;
    }
    r = read_procs(slot_fd, id, &again);
    for (size_t i = 0; i < count; i++) {
        bool ours = r >= 0 && list_has(buf_str(&again), pids[i]);
        if (ours)
            (void)pidfd_send_signal(pidfds[i], SIGKILL, NULL, 0);
        if (ours && ret_pidfds)
            ret_pidfds[kept++] = pidfds[i];
        else
            (void)fd_close(pidfds[i]);
    }
    if (ret_count)
        *ret_count = kept;
    return r < 0 ? r : (int)count;
}

static int milliseconds_until(uint64_t until_ns)
{
    uint64_t now_ns = clock_boottime_ns();
    return now_ns < until_ns ? (int)((until_ns - now_ns) / 1000000u) + 1 : 0;
}

/* Waits for the killed ones, each of which makes its pidfd readable. */
static void wait_for_pidfds(int *pidfds, size_t count, uint64_t until_ns)
{
    for (size_t i = 0; i < count; i++) {
        struct pollfd poll_fd = {.fd = pidfds[i], .events = POLLIN};
        (void)poll(&poll_fd, 1, milliseconds_until(until_ns));
        (void)fd_close(pidfds[i]);
    }
}

/* One cgroup of one hierarchy: kill and remove, again and again until nothing is left. */
static int sweep_one(int dir_fd, const char *id, uint64_t until_ns)
{
    for (;;) {
        if (unlinkat(dir_fd, id, AT_REMOVEDIR) == 0 || errno == ENOENT)
            return 0;
        if (errno != EBUSY || clock_boottime_ns() >= until_ns)
            return -errno;
        int pidfds[MAX_SWEPT_PIDS_A_ROUND];
        size_t count = 0;
        if (sweep_kill(dir_fd, id, pidfds, &count) < 0)
            count = 0;
        wait_for_pidfds(pidfds, count, until_ns);
        /* Dead processes may hold the cgroup a moment longer; ones that no pid names, too. */
        if (count == 0)
            (void)poll(NULL, 0, 1);
    }
}

static bool is_directory(const struct dirent *entry)
{
    return entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
           strcmp(entry->d_name, "..") != 0;
}

static int sweep_hierarchy(int slot_fd, uint64_t until_ns, unsigned int *swept)
{
    int fd = openat(slot_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        (void)fd_close(fd);
        return -errno;
    }
    int result = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!is_directory(entry))
            continue;
        int r = sweep_one(slot_fd, entry->d_name, until_ns);
        if (r < 0)
            result = -EBUSY;
        else
            (*swept)++;
    }
    (void)closedir(dir);
    return result;
}

int sweep_slot(const int *dir_fds, size_t count, uint64_t until_ns, unsigned int *ret_swept)
{
    int result = 0;
    *ret_swept = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned int swept = 0;
        if (dir_fds[i] >= 0 && sweep_hierarchy(dir_fds[i], until_ns, &swept) < 0)
            result = -EBUSY;
        if (swept > *ret_swept)
            *ret_swept = swept;
    }
    return result;
}
