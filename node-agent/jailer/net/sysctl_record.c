/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/sysctl_record.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are locked: the first by whoever reads or writes, the second by all that are there. */
enum { LOCK_TURN, LOCK_PRESENCE };

static int lock_byte(int fd, int byte, short kind, bool wait)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int r = 0;
    do {
        r = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

static int name_it(const char *dir, char *ret_path, size_t size)
{
    uint64_t cookie = 0;
    socklen_t cookie_size = sizeof(cookie);
    cleanup_close int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0 || getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &cookie_size) < 0)
        return -errno;
    int len = snprintf(ret_path, size, "%s/sandboxrun-net-%" PRIu64, dir, cookie);
    return (size_t)len < size ? 0 : -ENAMETOOLONG;
}

/* Nobody else's file, and one that is still there: who was the last removes it under our eyes. */
static bool is_current(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0 && st.st_nlink == 1;
}

void sysctl_record_open(struct sysctl_record *ret_record, const char *dir)
{
    *ret_record = SYSCTL_RECORD_INIT;
    if (name_it(dir, ret_record->path, sizeof(ret_record->path)) < 0)
        return;
    for (int round = 0; round < 100; round++) {
        cleanup_close int fd =
            open(ret_record->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || lock_byte(fd, LOCK_TURN, F_WRLCK, true) < 0)
            return;
        if (is_current(fd)) {
            ret_record->fd = TAKE_FD(fd);
            return;
        }
    }
}

static int write_down(int fd, const struct sysctls *sysctls)
{
    cleanup_buf struct buf text = BUF_INIT(SYSCTLS_MAX_TEXT);
    int r = sysctls_print(sysctls, &text);
    if (r >= 0 && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0))
        r = -errno;
    return r < 0 ? r : fd_write_full(fd, buf_str(&text), text.len);
}

void sysctl_record_enter(struct sysctl_record *record, struct sysctls *sysctls)
{
    if (record->fd < 0)
        return;
    cleanup_buf struct buf text = BUF_INIT(SYSCTLS_MAX_TEXT);
    if (lseek(record->fd, 0, SEEK_SET) == 0 && fd_read_all(record->fd, &text) >= 0)
        sysctls_remember(sysctls, buf_str(&text));
    if (write_down(record->fd, sysctls) < 0 ||
        lock_byte(record->fd, LOCK_PRESENCE, F_RDLCK, true) < 0) {
        sysctl_record_done(record, false);
        return;
    }
    (void)lock_byte(record->fd, LOCK_TURN, F_UNLCK, true);
}

bool sysctl_record_leave(struct sysctl_record *record)
{
    return lock_byte(record->fd, LOCK_TURN, F_WRLCK, true) >= 0 &&
           lock_byte(record->fd, LOCK_PRESENCE, F_WRLCK, false) >= 0;
}

void sysctl_record_done(struct sysctl_record *record, bool last)
{
    if (record->fd >= 0 && last)
        (void)unlink(record->path);
    record->fd = fd_close(record->fd);
}
