/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent_kube/full_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t real_write(int fd, const void *bytes, size_t len) __asm__("__real_write");
ssize_t wrap_write(int fd, const void *bytes, size_t len) __asm__("__wrap_write");
int real_posix_fallocate(int fd, off_t offset, off_t len) __asm__("__real_posix_fallocate");
int wrap_posix_fallocate(int fd, off_t offset, off_t len) __asm__("__wrap_posix_fallocate");

bool full_disk;

ssize_t wrap_write(int fd, const void *bytes, size_t len)
{
    struct stat st;

    if (full_disk && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        errno = ENOSPC;
        return -1;
    }
    return real_write(fd, bytes, len);
}

int wrap_posix_fallocate(int fd, off_t offset, off_t len)
{
    return full_disk ? ENOSPC : real_posix_fallocate(fd, offset, len);
}
