/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/gated_process.h"

#include "common/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define FIRST_FD     3
#define EXIT_NOT_RUN 127
#define CLEAR_OF_FDS 16 /* above what the program is given */

#define MAX_SWEPT_FDS (1u << 20)

/* From here on only what is async-signal-safe (signal-safety(7)), though we have no threads. */

/* One by one where the call is refused: `sandboxrun doctor` is there to say so. */
static void withhold(unsigned int first)
{
    struct rlimit limit = {.rlim_cur = MAX_SWEPT_FDS};
    if (close_range(first, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    for (unsigned int fd = first; fd < limit.rlim_cur && fd < MAX_SWEPT_FDS; fd++)
        (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

static int place(const struct gated_program *program, size_t fd_count, int null_fd)
{
    int high[MAX_GATED_FDS];
    /* Twice, since a number may be where another one is to be. */
    for (size_t i = 0; i < fd_count; i++) {
        high[i] = fcntl(program->fds[i], F_DUPFD_CLOEXEC, CLEAR_OF_FDS);
        if (high[i] < 0)
            return -errno;
    }
    for (size_t i = 0; i < fd_count; i++) {
        if (dup2(high[i], FIRST_FD + (int)i) < 0)
            return -errno;
    }
    if (dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0)
        return -errno;
    withhold(FIRST_FD + (unsigned int)fd_count);
    return 0;
}

static int set_signals(void)
{
    static const int ignored[] = {SIGPIPE, SIGCHLD, SIGHUP, SIGINT};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
        if (sigaction(ignored[i], &usual, NULL) < 0)
            return -errno;
    }
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

static void become(const struct gated_program *program, int gate, int null_fd)
{
    char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, NULL};
    uint8_t choice = 0;
    (void)setsid();
    ssize_t n = 0;
    do {
        n = read(gate, &choice, sizeof(choice));
    } while (n < 0 && errno == EINTR);
    if (n != sizeof(choice) || choice >= MAX_GATED_CHOICES)
        _exit(EXIT_SUCCESS);
    /* The gate lies above all places now, and is closed by a successful execve(). */
    int status = fcntl(gate, F_DUPFD_CLOEXEC, CLEAR_OF_FDS);
    int failure = status < 0 ? -errno : place(program, program->fd_count[choice], null_fd);
    if (failure == 0)
        failure = set_signals();
    if (failure == 0) {
        (void)execve(program->path, program->argv[choice], environment);
        failure = -errno;
    }
    failure = -failure;
    (void)!write(status, &failure, sizeof(failure));
    _exit(EXIT_NOT_RUN);
}

int gated_process_fork(const struct gated_program *program, struct gated_process *ret_process,
                       struct error *err)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return error_set_errno(err, errno, "socketpair for %s", program->path);
    cleanup_close int ours = socks[0];
    cleanup_close int theirs = socks[1];
    cleanup_close int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return error_set_errno(err, errno, "open /dev/null");
    pid_t pid = fork();
    if (pid < 0)
        return error_set_errno(err, errno, "start %s", program->path);
    if (pid == 0) {
        (void)close(ours);
        become(program, theirs, null_fd);
    }
    *ret_process = (struct gated_process){.pid = pid, .gate = TAKE_FD(ours)};
    return 0;
}

int gated_process_begin(struct gated_process *process, const char *path, unsigned int choice,
                        struct error *err)
{
    uint8_t byte = (uint8_t)choice;
    int failure = 0;
    cleanup_close int gate = TAKE_FD(process->gate);
    ssize_t n = send(gate, &byte, sizeof(byte), MSG_NOSIGNAL);
    if (n < 0)
        return error_set_errno(err, errno, "start %s", path);
    do {
        n = recv(gate, &failure, sizeof(failure), 0);
    } while (n < 0 && errno == EINTR);
    /* Its end without a word is execve()'s doing. */
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return 0;
    (void)waitpid(process->pid, NULL, 0);
    process->pid = 0;
    return error_set_errno(err, n == sizeof(failure) ? failure : EIO, "start %s", path);
}
