/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/jailer_process.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/path.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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

/* Beside our own program, or beside the jailer's: the two come from one release. Empty if it is
 * nowhere. */
static void find_resolver(const char *jailer, char ret_path[static MAX_PATH_CANDIDATE])
{
    static const char name[] = "sandboxrun-resolver";
    char directory[MAX_PATH_CANDIDATE];
    ret_path[0] = '\0';
    (void)snprintf(directory, sizeof(directory), "%s", jailer);
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    if (slash && path_join(ret_path, MAX_PATH_CANDIDATE, directory, name) >= 0 &&
        access(ret_path, X_OK) == 0)
        return;
    if (own_directory(directory, NULL) >= 0 &&
        path_join(ret_path, MAX_PATH_CANDIDATE, directory, name) >= 0 &&
        access(ret_path, X_OK) == 0)
        return;
    ret_path[0] = '\0';
}

/* extra is one more argument, or NULL. */
static int fork_jailer(struct jailer_process *process, const char *runtimes_dir, char *extra,
                       int sock, int resolver_sock, struct error *err)
{
    char directory[MAX_PATH_CANDIDATE];
    (void)snprintf(directory, sizeof(directory), "%s", runtimes_dir);
    char *const plain[] = {
        process->program,
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
    char *const with_network[] = {
        process->program, (char[]){"--fd"},          (char[]){"3"},    (char[]){"--runtimes-dir"},
        directory,        (char[]){"--log-format"},  (char[]){"text"}, (char[]){"--log-level"},
        (char[]){"warn"}, (char[]){"--resolver-fd"}, (char[]){"4"},    NULL,
    };
    const struct gated_program program = {.path = process->program,
                                          .argv = {plain, with_network},
                                          .fds = {sock, resolver_sock},
                                          .fd_count = {1, 2}};
    return gated_process_fork(&program, &process->jailer, err);
}

static int fork_resolver(struct jailer_process *process, int sock, struct error *err)
{
    char *const argv[] = {
        process->resolver_program,
        (char[]){"--jailer-fd"},
        (char[]){"3"},
        (char[]){"--log-format"},
        (char[]){"text"},
        (char[]){"--log-level"},
        (char[]){"warn"},
        NULL,
    };
    const struct gated_program program = {.path = process->resolver_program,
                                          .argv = {argv, argv},
                                          .fds = {sock, -1},
                                          .fd_count = {1, 1}};
    return process->resolver_program[0] ? gated_process_fork(&program, &process->resolver, err) : 0;
}

static int prepare(const char *program, const char *runtimes_dir, char *extra,
                   struct jailer_process *ret_process, struct error *err)
{
    int socks[2], resolver_socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return error_set_errno(err, errno, "socketpair for the jailer");
    cleanup_close int ours = socks[0];
    cleanup_close int theirs = socks[1];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, resolver_socks) < 0)
        return error_set_errno(err, errno, "socketpair for the resolver");
    cleanup_close int jailer_end = resolver_socks[0];
    cleanup_close int resolver_end = resolver_socks[1];
    int r = fd_set_nonblock(ours, true);
    if (r < 0)
        return error_set_errno(err, -r, "socketpair for the jailer");

    struct jailer_process process = JAILER_PROCESS_NONE;
    (void)snprintf(process.program, sizeof(process.program), "%s", program);
    find_resolver(program, process.resolver_program);
    r = fork_jailer(&process, runtimes_dir, extra, theirs, jailer_end, err);
    if (r >= 0)
        r = fork_resolver(&process, resolver_end, err);
    if (r < 0) {
        (void)jailer_process_stop(&process, NULL);
        return r;
    }
    process.sock = TAKE_FD(ours);
    *ret_process = process;
    return 0;
}

int jailer_process_prepare(const char *program, const char *runtimes_dir,
                           struct jailer_process *ret_process, struct error *err)
{
    return prepare(program, runtimes_dir, NULL, ret_process, err);
}

static int wait_for_end(pid_t pid, const char *name, struct error *err)
{
    cleanup_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return error_set_errno(err, errno, "watch the %s", name);
    struct pollfd fds = {.fd = pidfd, .events = POLLIN};
    int n;
    do {
        n = poll(&fds, 1, JAILER_EXIT_WITHIN_MS);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_set_errno(err, errno, "wait for the %s", name);
    if (n == 0)
        return error_set(err, ETIMEDOUT,
                         "the %s (process %d) has not ended within %u s; look at its log and "
                         "end it by hand",
                         name, (int)pid, JAILER_EXIT_WITHIN_MS / 1000);
    return 0;
}

/* It ends when the jailer has, or at once if it never began: how is no matter. */
static int stop_resolver(struct jailer_process *process, struct error *err)
{
    bool began = process->resolver.gate < 0;
    process->resolver.gate = fd_close(process->resolver.gate);
    pid_t pid = process->resolver.pid;
    process->resolver.pid = 0;
    int r = pid > 0 && began ? wait_for_end(pid, "resolver", err) : 0;
    if (r >= 0 && pid > 0)
        (void)waitpid(pid, NULL, 0);
    return r;
}

int jailer_process_begin(struct jailer_process *process, bool with_network, struct error *err)
{
    if (with_network && process->resolver.pid == 0)
        return error_set(err, ENOENT,
                         "profile ToolCall needs sandboxrun-resolver, which is neither beside "
                         "this program nor beside %s: install it there",
                         process->program);
    int r = 0;
    if (with_network)
        r = gated_process_begin(&process->resolver, process->resolver_program, 0, err);
    else
        r = stop_resolver(process, err);
    return r < 0 ? r : gated_process_begin(&process->jailer, process->program, with_network, err);
}

static int start(const char *program, const char *runtimes_dir, char *extra,
                 struct jailer_process *ret_process, struct error *err)
{
    struct jailer_process process = JAILER_PROCESS_NONE;
    int r = prepare(program, runtimes_dir, extra, &process, err);
    if (r < 0)
        return r;
    r = jailer_process_begin(&process, false, err);
    if (r < 0) {
        (void)jailer_process_stop(&process, NULL);
        return r;
    }
    *ret_process = process;
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

static int stop_jailer(struct jailer_process *process, struct error *err)
{
    /* Half of it first: a jailer that is just about to say hello to us must be able to, or it
     * complains. */
    if (process->sock >= 0)
        (void)shutdown(process->sock, SHUT_WR);
    /* A resolver that has not begun has a copy of the gate: closing ours alone is not seen. */
    if (process->jailer.gate >= 0)
        (void)shutdown(process->jailer.gate, SHUT_RDWR);
    process->jailer.gate = fd_close(process->jailer.gate);
    pid_t pid = process->jailer.pid;
    process->jailer.pid = 0;
    int r = pid > 0 ? wait_for_end(pid, "jailer", err) : 0;
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

int jailer_process_stop(struct jailer_process *process, struct error *err)
{
    /* One that never began holds the other one's gate open, as a copy from its fork. */
    int never_began = process->resolver.gate >= 0 ? stop_resolver(process, err) : 0;
    int r = stop_jailer(process, never_began < 0 ? NULL : err);
    int ended = stop_resolver(process, never_began < 0 || r < 0 ? NULL : err);
    return never_began < 0 ? never_began : r < 0 ? r : ended;
}
