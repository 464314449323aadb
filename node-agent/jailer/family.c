/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/family.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/pass_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* How long the maker may take for a few system calls before it is given up. */
#define MAKE_WITHIN_MS 10000

/* From the maker: why it failed, or 0 with a descriptor. From the jailer: the maps are written. */
struct word {
    struct error error;
};

struct maker {
    int sock;
    int proc_fd;
    const struct runtime *runtime;
};

static int wait_for(pid_t pid, int *ret_status)
{
    pid_t r = 0;
    do {
        r = waitpid(pid, ret_status, 0);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

/* By process 1 of a pid namespace that ends with it. */
static int mount_empty_proc(struct error *err)
{
    if (unshare(CLONE_NEWPID) < 0)
        return error_set_errno(err, errno, "make a pid namespace");
    pid_t pid = fork();
    if (pid < 0)
        return error_set_errno(err, errno, "fork");
    if (pid == 0)
        _exit(mount("proc", "/proc", "proc", MOUNTS_PROC_FLAGS, MOUNTS_PROC_OPTIONS) < 0 ? errno
                                                                                         : 0);
    int status = 0;
    int r = wait_for(pid, &status);
    if (r < 0)
        return error_set_errno(err, -r, "wait for a process");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_set_errno(err, WIFEXITED(status) ? WEXITSTATUS(status) : EINTR,
                               "mount /proc of an empty pid namespace");
    return 0;
}

static int send_namespace(const struct maker *maker, const char *name, struct error *err)
{
    const struct word word = {.error = {.code = 0}};
    cleanup_close int fd = openat(maker->proc_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "open /proc/%s", name);
    int r = pass_fd_send(maker->sock, &word, sizeof(word), fd);
    return r < 0 ? error_set_errno(err, -r, "hand over /proc/%s", name) : 0;
}

/* The mount namespace is made in the user namespace, and so belongs to it: what is mounted there
 * can be covered by those inside, and neither removed nor changed. */
static int make(const struct maker *maker, struct error *err)
{
    struct word word;
    if (setns(maker->runtime->mount_ns_fd, CLONE_NEWNS) < 0 || unshare(CLONE_NEWNS) < 0)
        return error_set_errno(err, errno, "copy the runtime's mount namespace");
    int r = mount_empty_proc(err);
    if (r < 0)
        return r;
    if (unshare(CLONE_NEWUSER) < 0)
        return error_set_errno(err, errno, "make a user namespace");
    r = send_namespace(maker, "self/ns/user", err);
    if (r < 0)
        return r;
    if (recv(maker->sock, &word, sizeof(word), 0) != (ssize_t)sizeof(word))
        return error_set_errno(err, EPIPE, "wait for the maps");
    if (unshare(CLONE_NEWNS) < 0)
        return error_set_errno(err, errno, "make a mount namespace in it");
    return send_namespace(maker, "self/ns/mnt", err);
}

static _Noreturn void maker_main(const struct maker *maker)
{
    struct word word = {.error = {.code = 0}};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int r = make(maker, &word.error);
    if (r < 0)
        (void)send(maker->sock, &word, sizeof(word), MSG_NOSIGNAL);
    _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static int receive_namespace(int sock, int *ret_fd, struct error *err)
{
    struct word word;
    struct pollfd readable = {.fd = sock, .events = POLLIN};
    int r = 0;
    do {
        r = poll(&readable, 1, MAKE_WITHIN_MS);
    } while (r < 0 && errno == EINTR);
    if (r <= 0)
        return error_set_errno(err, r == 0 ? ETIMEDOUT : errno, "wait for a namespace");
    int n = pass_fd_receive(sock, &word, sizeof(word), ret_fd);
    if (n == (int)sizeof(word) && *ret_fd >= 0)
        return 0;
    if (n == (int)sizeof(word) && word.error.code > 0)
        return error_set(err, word.error.code, "%.*s", MAX_ERROR_TEXT - 1, word.error.text);
    return error_set_errno(err, n < 0 ? -n : EPROTO, "take a namespace over");
}

static int write_maps(int proc_fd, pid_t pid, uid_t first, uint32_t count, struct error *err)
{
    static const char *const names[] = {"uid_map", "gid_map"};
    char map[64], path[32];
    (void)snprintf(map, sizeof(map), "%u %u %u", first, first, count);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        (void)snprintf(path, sizeof(path), "%d/%s", pid, names[i]);
        int r = fd_write_attr(proc_fd, path, map);
        if (r < 0)
            return error_set_errno(err, -r, "write \"%s\" to the %s of a user namespace", map,
                                   names[i]);
    }
    return 0;
}

/* With the maker at work. */
static int take_over(int proc_fd, pid_t pid, int sock, uid_t first, uint32_t count,
                     struct family *family, struct error *err)
{
    const struct word word = {.error = {.code = 0}};
    int r = receive_namespace(sock, &family->user_ns_fd, err);
    if (r >= 0)
        r = write_maps(proc_fd, pid, first, count, err);
    if (r < 0)
        return r;
    if (send(sock, &word, sizeof(word), MSG_NOSIGNAL) != (ssize_t)sizeof(word))
        return error_set_errno(err, errno, "tell that the maps are written");
    return receive_namespace(sock, &family->mount_ns_fd, err);
}

int family_make(int proc_fd, const struct runtime *runtime, uid_t first, uint32_t count,
                struct family *ret_family, struct error *err)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return error_set_errno(err, errno, "make a socket");
    cleanup_close int ours = socks[0];
    int theirs = socks[1];
    pid_t pid = fork();
    if (pid == 0) {
        const struct maker maker = {.sock = theirs, .proc_fd = proc_fd, .runtime = runtime};
        maker_main(&maker);
    }
    int failure = errno;
    (void)fd_close(theirs);
    if (pid < 0)
        return error_set_errno(err, failure, "fork");

    struct family family = FAMILY_INIT;
    int r = take_over(proc_fd, pid, ours, first, count, &family, err);
    int status = 0;
    (void)kill(pid, SIGKILL);
    (void)wait_for(pid, &status);
    if (r < 0) {
        family_close(&family);
        return r;
    }
    *ret_family = family;
    return 0;
}

void family_close(struct family *family)
{
    family->user_ns_fd = fd_close(family->user_ns_fd);
    family->mount_ns_fd = fd_close(family->mount_ns_fd);
}
