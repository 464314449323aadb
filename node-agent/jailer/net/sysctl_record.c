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

#define MAX_RECORD ((size_t)SYSCTLS_MAX * (SYSCTLS_VALUE_SIZE + 64))

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

static int name_it(char *ret_path, size_t size)
{
    uint64_t cookie = 0;
    socklen_t len = sizeof(cookie);
    cleanup_close int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0 || getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0)
        return -errno;
    (void)snprintf(ret_path, size, "/run/sandboxrun-net-%" PRIu64, cookie);
    return 0;
}

/* Nobody else's file, and one that is still there: who was the last removes it under our eyes. */
static bool is_current(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0 && st.st_nlink == 1;
}

void sysctl_record_open(struct sysctl_record *ret_record)
{
    *ret_record = SYSCTL_RECORD_INIT;
    if (name_it(ret_record->path, sizeof(ret_record->path)) < 0)
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

/* Lines of NAME, a blank and the value, which may be empty. */
static const char *find(const char *text, const char *name, char ret_value[SYSCTLS_VALUE_SIZE])
{
    size_t len = strlen(name);
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        if ((size_t)(end - line) > len && strncmp(line, name, len) == 0 && line[len] == ' ' &&
            (size_t)(end - line) - len - 1 < SYSCTLS_VALUE_SIZE) {
            size_t value_len = (size_t)(end - line) - len - 1;
            memcpy(ret_value, line + len + 1, value_len);
            ret_value[value_len] = '\0';
            return ret_value;
        }
        line = *end ? end + 1 : end;
    }
    return NULL;
}

static int write_down(int fd, const struct sysctls *sysctls)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_RECORD);
    int r = 0;
    for (size_t i = 0; i < sysctls->changed_count && r >= 0; i++)
        r = buf_printf(&text, "%s %s\n", sysctls->changed[i].name, sysctls->changed[i].before);
    if (r >= 0 && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0))
        r = -errno;
    return r < 0 ? r : fd_write_full(fd, buf_str(&text), text.len);
}

void sysctl_record_enter(struct sysctl_record *record, struct sysctls *sysctls)
{
    if (record->fd < 0)
        return;
    cleanup_buf struct buf text = BUF_INIT(MAX_RECORD);
    if (lseek(record->fd, 0, SEEK_SET) == 0 && fd_read_all(record->fd, &text) >= 0)
        sysctls_remember(sysctls, buf_str(&text), find);
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
