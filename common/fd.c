/* SPDX-License-Identifier: Apache-2.0 */
#include "common/fd.h"

#include "common/cleanup.h"
#include "common/random.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { FD_CHUNK_SIZE = 64 * 1024 };

ssize_t fd_read_full(int fd, void *bytes, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = read(fd, (char *)bytes + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && done > 0)
            break;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int fd_write_full(int fd, const void *bytes, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(fd, (const char *)bytes + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        done += (size_t)n;
    }
    return 0;
}

int fd_set_nonblock(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (wanted != flags && fcntl(fd, F_SETFL, wanted) < 0)
        return -errno;
    return 0;
}

int fd_pipe(int ret_fds[static 2], int flags)
{
    return pipe2(ret_fds, flags | O_CLOEXEC) < 0 ? -errno : 0;
}

/* At its maximum the buffer has no room left: one byte more tells a file that just fits from one
 * that is too long. */
static int fd_expect_end(int fd)
{
    char byte = 0;
    ssize_t n = fd_read_full(fd, &byte, 1);
    if (n < 0)
        return (int)n;
    return n == 0 ? 0 : -EFBIG;
}

int fd_read_all(int fd, struct buf *buf)
{
    for (;;) {
        size_t room = buf->max - buf->len;
        if (room == 0)
            return fd_expect_end(fd);
        size_t chunk = room < FD_CHUNK_SIZE ? room : FD_CHUNK_SIZE;
        char *into = buf_reserve(buf, chunk);
        if (!into)
            return -ENOMEM;
        ssize_t n = fd_read_full(fd, into, chunk);
        if (n < 0)
            return (int)n;
        buf_commit(buf, (size_t)n);
        if ((size_t)n < chunk)
            return 0;
    }
}

int fd_read_file(int dirfd, const char *path, bool nofollow, struct buf *buf)
{
    /* O_NONBLOCK: opening a FIFO that nobody writes to must not hang. */
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (nofollow ? O_NOFOLLOW : 0);
    cleanup_close int fd = openat(dirfd, path, flags);
    if (fd < 0)
        return -errno;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return -EINVAL;
    int r = fd_set_nonblock(fd, false);
    return r < 0 ? r : fd_read_all(fd, buf);
}

static int fd_write_and_sync(int fd, const void *bytes, size_t len, mode_t mode)
{
    /* The umask took part in the mode of the creation. */
    if (fchmod(fd, mode) < 0)
        return -errno;
    int r = fd_write_full(fd, bytes, len);
    if (r < 0)
        return r;
    return fsync(fd) < 0 ? -errno : 0;
}

int fd_write_file_durable(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode)
{
    char id[RANDOM_UUID_SIZE], temporary[NAME_MAX + 1];
    if (name[0] == '\0' || strchr(name, '/'))
        return -EINVAL;
    int r = random_uuid(id);
    if (r < 0)
        return r;
    int size = snprintf(temporary, sizeof(temporary), ".%s.%s", name, id);
    if (size < 0 || (size_t)size >= sizeof(temporary))
        return -ENAMETOOLONG;

    /* A second descriptor of the directory: dirfd may be AT_FDCWD or O_PATH, which can't sync. */
    cleanup_close int dir = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    cleanup_close int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    r = fd_write_and_sync(fd, bytes, len, mode);
    if (r == 0 && renameat(dir, temporary, dir, name) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(dir, temporary, 0);
        return r;
    }
    return fsync(dir) < 0 ? -errno : 0;
}

int fd_read_attr(int dirfd, const char *name, char *ret_text, size_t size)
{
    if (size == 0)
        return -EINVAL;
    cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = fd_read_full(fd, ret_text, size);
    if (n < 0)
        return (int)n;
    size_t len = (size_t)n;
    if (len > 0 && ret_text[len - 1] == '\n')
        len--;
    if (len == size)
        return -EMSGSIZE;
    ret_text[len] = '\0';
    return 0;
}
