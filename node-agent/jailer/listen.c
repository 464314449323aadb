/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/listen.h"

#include "common/cleanup.h"
#include "common/path.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* One agent is served, one may wait for the next turn. */
#define BACKLOG 1

static int fill_address(const char *path, struct sockaddr_un *ret_address, struct error *err)
{
    size_t len = strlen(path);
    if (len >= sizeof(ret_address->sun_path))
        return error_set(err, ENAMETOOLONG, "%s: a socket's path has at most %zu bytes", path,
                         sizeof(ret_address->sun_path) - 1);
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret_address->sun_path, path, len);
    return 0;
}

static int new_socket(struct error *err)
{
    int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return sock < 0 ? error_set_errno(err, errno, "make a socket") : sock;
}

/* Removes a socket that nobody listens on any more; anything else stays. */
static int clear_path(const struct sockaddr_un *address, struct error *err)
{
    struct stat st;
    const char *path = address->sun_path;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : error_set_errno(err, errno, "look at %s", path);
    if (!S_ISSOCK(st.st_mode))
        return error_set(err, EEXIST, "%s exists and is not a socket", path);
    cleanup_close int sock = new_socket(err);
    if (sock < 0)
        return sock;
    if (connect(sock, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
        return error_set(err, EADDRINUSE, "another jailer listens at %s", path);
    if (errno != ECONNREFUSED)
        return error_set_errno(err, errno, "try the socket at %s", path);
    if (unlink(path) < 0)
        return error_set_errno(err, errno, "remove the old socket at %s", path);
    return 0;
}

/* Two jailers that start at once must not remove each other's. */
static int lock_directory(const char *path, struct error *err)
{
    char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
    (void)snprintf(copy, sizeof(copy), "%s", path);
    const char *directory = dirname(copy);
    int fd = path_open_dir(directory);
    if (fd < 0)
        return error_set_errno(err, -fd, "open the socket's directory %s", directory);
    if (flock(fd, LOCK_EX) < 0) {
        (void)fd_close(fd);
        return error_set_errno(err, errno, "lock the socket's directory %s", directory);
    }
    return fd;
}

int listen_open(const char *path, uid_t owner, struct error *err)
{
    struct sockaddr_un address;
    int r = fill_address(path, &address, err);
    if (r < 0)
        return r;
    cleanup_close int lock_fd = lock_directory(path, err);
    if (lock_fd < 0)
        return lock_fd;
    r = clear_path(&address, err);
    if (r < 0)
        return r;
    cleanup_close int sock = new_socket(err);
    if (sock < 0)
        return sock;
    /* Connecting takes write permission (unix(7)): the agent's, and by the group ours, so that the
     * next jailer can try a socket that is left without CAP_DAC_OVERRIDE. */
    mode_t mask = umask(0117);
    r = bind(sock, (const struct sockaddr *)&address, sizeof(address));
    int failure = errno;
    (void)umask(mask);
    if (r < 0)
        return error_set_errno(err, failure, "bind the socket at %s", path);
    if (lchown(path, owner, (gid_t)-1) < 0)
        return error_set_errno(err, errno, "give the socket at %s to uid %u", path, owner);
    if (listen(sock, BACKLOG) < 0)
        return error_set_errno(err, errno, "listen at %s", path);
    return TAKE_FD(sock);
}

int listen_make_spool(const char *path, uid_t owner, struct error *err)
{
    mode_t mask = umask(0077);
    bool made = mkdir(path, 0700) == 0;
    int failure = errno;
    (void)umask(mask);
    if (!made && failure != EEXIST)
        return error_set_errno(err, failure, "make the spool directory %s", path);
    /* It is closed to us: O_PATH asks for no permission on it. */
    cleanup_close int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "open the spool directory %s", path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_set_errno(err, errno, "look at the spool directory %s", path);
    if ((st.st_mode & 07777) != 0700)
        return error_set(err, EEXIST, "the spool directory %s has mode %04o and must have 0700",
                         path, st.st_mode & 07777);
    if (st.st_uid != owner && fchownat(fd, "", owner, (gid_t)-1, AT_EMPTY_PATH) < 0)
        return error_set_errno(err, errno, "give the spool directory %s to uid %u", path, owner);
    return 0;
}
