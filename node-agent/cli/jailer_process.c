/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/jailer_process.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define JAILER_FD 3

static const char *const jailer_places[] = {
    "sandboxrun-jailer",
    "../libexec/sandboxrun-jailer",
    "../libexec/sandboxrun/sandboxrun-jailer",
};

/* The directory that our own program lies in. */
static int own_directory(char ret_path[static MAX_PATH_CANDIDATE], struct error *err)
{
    char path[MAX_PATH_CANDIDATE];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (len < 0)
        return error_set_errno(err, errno, "/proc/self/exe: can't tell where this program lies");
    path[len] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return error_set(err, ENOENT, "/proc/self/exe: not a path: %s", path);
    *(slash == path ? slash + 1 : slash) = '\0';
    memcpy(ret_path, path, strlen(path) + 1);
    return 0;
}

int jailer_process_find(const char *option, char ret_path[static MAX_PATH_CANDIDATE],
                        struct error *err)
{
    if (option) {
        if (access(option, X_OK) < 0)
            return error_set_errno(err, errno, "--jailer %s", option);
        if (snprintf(ret_path, MAX_PATH_CANDIDATE, "%s", option) >= (int)MAX_PATH_CANDIDATE)
            return error_set_errno(err, ENAMETOOLONG, "--jailer");
        return 0;
    }
    char directory[MAX_PATH_CANDIDATE];
    int r = own_directory(directory, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_SIZE(jailer_places); i++) {
        char path[MAX_PATH_CANDIDATE];
        if (path_join(path, sizeof(path), directory, jailer_places[i]) < 0 ||
            access(path, X_OK) < 0)
            continue;
        memcpy(ret_path, path, strlen(path) + 1);
        return 0;
    }
    return error_set(err, ENOENT,
                     "no sandboxrun-jailer in %s or %s/../libexec: install it there, or name it "
                     "with --jailer PATH",
                     directory, directory);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int jailer_process_find_runtimes(const char *option, char ret_path[static MAX_PATH_CANDIDATE],
                                 struct error *err)
{
    static const char installed[] = JAILER_RUNTIMES_DIR;
    char directory[MAX_PATH_CANDIDATE];
    char built[MAX_PATH_CANDIDATE];
    if (option) {
        if (!is_directory(option))
            return error_set(err, ENOTDIR,
                             "--runtimes-dir %s: no such directory; make one with "
                             "hack/make-runtime.sh",
                             option);
        if (snprintf(ret_path, MAX_PATH_CANDIDATE, "%s", option) >= (int)MAX_PATH_CANDIDATE)
            return error_set_errno(err, ENAMETOOLONG, "--runtimes-dir");
        return 0;
    }
    int r = own_directory(directory, err);
    if (r < 0)
        return r;
    if (path_join(built, sizeof(built), directory, "../../runtimes") >= 0 && is_directory(built)) {
        memcpy(ret_path, built, strlen(built) + 1);
        return 0;
    }
    if (is_directory(installed)) {
        memcpy(ret_path, installed, sizeof(installed));
        return 0;
    }
    return error_set(err, ENOENT,
                     "no runtime on this machine: neither %s/../../runtimes nor %s is there; make "
                     "one with hack/make-runtime.sh, or name the directory with --runtimes-dir",
                     directory, installed);
}

static int spawn(const char *program, char *const argv[], int sock, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0)
        return -r;
    r = posix_spawnattr_init(&attributes);
    if (r != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return -r;
    }
    /* Of ours it gets stderr for its log and the socket, of our parent's nothing.
     * Without the controlling terminal its Ctrl-C reaches us alone, who end the runs first. */
    char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, NULL};
    sigset_t none;
    (void)sigemptyset(&none);
    r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, sock, JAILER_FD);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(&actions, JAILER_FD + 1);
    if (r == 0)
        r = posix_spawnattr_setsigmask(&attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    if (r == 0)
        r = posix_spawn(ret_pid, program, &actions, &attributes, argv, environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* extra is one more argument, or NULL. */
static int start(const char *program, const char *runtimes_dir, char *extra,
                 struct jailer_process *ret_process, struct error *err)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return error_set_errno(err, errno, "socketpair for the jailer");
    cleanup_close int ours = socks[0];
    cleanup_close int theirs = socks[1];
    int r = fd_set_nonblock(ours, true);
    if (r < 0)
        return error_set_errno(err, -r, "socketpair for the jailer");

    char name[MAX_PATH_CANDIDATE];
    char directory[MAX_PATH_CANDIDATE];
    (void)snprintf(name, sizeof(name), "%s", program);
    (void)snprintf(directory, sizeof(directory), "%s", runtimes_dir);
    char *const argv[] = {
        name,
        (char[]){"--fd"},
        (char[]){"3"},
        (char[]){"--runtimes-dir"},
        directory,
        (char[]){"--log-format"},
        (char[]){"text"},
        (char[]){"--log-level"},
        (char[]){"warn"},
        extra,
        NULL,
    };
    pid_t pid;
    r = spawn(program, argv, theirs, &pid);
    if (r < 0)
        return error_set_errno(err, -r, "start %s", program);
    *ret_process = (struct jailer_process){.pid = pid, .sock = TAKE_FD(ours)};
    return 0;
}

int jailer_process_start(const char *program, const char *runtimes_dir,
                         struct jailer_process *ret_process, struct error *err)
{
    return start(program, runtimes_dir, NULL, ret_process, err);
}

int jailer_process_start_check(const char *program, const char *runtimes_dir,
                               struct jailer_process *ret_process, struct error *err)
{
    return start(program, runtimes_dir, (char[]){"--check"}, ret_process, err);
}

static int wait_for_end(pid_t pid, struct error *err)
{
    cleanup_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return error_set_errno(err, errno, "watch the jailer");
    struct pollfd fds = {.fd = pidfd, .events = POLLIN};
    int n;
    do {
        n = poll(&fds, 1, JAILER_EXIT_WITHIN_MS);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_set_errno(err, errno, "wait for the jailer");
    if (n == 0)
        return error_set(err, ETIMEDOUT,
                         "the jailer (process %d) has not ended within %u s; look at its log and "
                         "end it by hand",
                         (int)pid, JAILER_EXIT_WITHIN_MS / 1000);
    return 0;
}

int jailer_process_stop(struct jailer_process *process, struct error *err)
{
    /* Half of it first: a jailer that is just about to say hello to us must be able to, or it
     * complains. */
    if (process->sock >= 0)
        (void)shutdown(process->sock, SHUT_WR);
    pid_t pid = process->pid;
    process->pid = 0;
    int r = pid > 0 ? wait_for_end(pid, err) : 0;
    process->sock = fd_close(process->sock);
    if (r < 0 || pid == 0)
        return r;
    int status;
    if (waitpid(pid, &status, 0) < 0)
        return error_set_errno(err, errno, "wait for the jailer");
    if (WIFSIGNALED(status))
        return error_set(err, ECHILD, "the jailer was ended by signal %d (SIG%s)", WTERMSIG(status),
                         sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    process->said_why = WEXITSTATUS(status) != 0;
    if (process->said_why)
        return error_set(err, ECHILD, "the jailer ended with exit status %d", WEXITSTATUS(status));
    return 0;
}
