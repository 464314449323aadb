/* SPDX-License-Identifier: Apache-2.0 */

/* Apart from the rest of fd.h, for those that may do nothing but system calls. */
#include "common/cleanup.h"
#include "common/fd.h"

#include <fcntl.h>
#include <string.h>

int fd_write_attr(int dirfd, const char *name, const char *text)
{
    cleanup_close int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t len = strlen(text);
    ssize_t n = 0;
    do {
        n = write(fd, text, len);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return (size_t)n == len ? 0 : -EIO;
}
