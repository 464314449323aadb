/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads until EOF, EAGAIN or `len` bytes; retries EINTR. Bytes read (0 only at the end), or -errno;
 * -EAGAIN where not a single byte was there. */
ssize_t fd_read_full(int fd, void *bytes, size_t len);

/* Writes all bytes; retries EINTR and short writes. 0 or -errno. */
int fd_write_full(int fd, const void *bytes, size_t len);

int fd_set_nonblock(int fd, bool on);

/* pipe2() with O_CLOEXEC and further flags. */
int fd_pipe(int ret_fds[static 2], int flags);

/* Appends the whole of an open regular file or pipe to buf; -EFBIG beyond buf's maximum. */
int fd_read_all(int fd, struct buf *buf);

/* Reads a file of at most buf's maximum; follows no symlink at dirfd/path's last component if
 * `nofollow`. FIFOs are read to their end. Directories and devices are refused
 * (-EISDIR, -EINVAL); -EFBIG beyond the maximum. */
int fd_read_file(int dirfd, const char *path, bool nofollow, struct buf *buf);

/* Writes a file atomically and durably: temporary name in the same directory, fsync, rename,
 * fsync of the directory. name has no slash. On failure the file is as before. */
int fd_write_file_durable(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode);

/* Writes a short text to an existing file such as a cgroup attribute, in one write(). */
int fd_write_attr(int dirfd, const char *name, const char *text);

/* Reads a short attribute (at most size-1 bytes) and strips the final newline;
 * -EMSGSIZE if there is more. */
int fd_read_attr(int dirfd, const char *name, char *ret_text, size_t size);
