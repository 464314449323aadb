/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/standby.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/limits.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

struct standby {
    struct server *server;
    int lock_fd;
    struct deadline again;
    int result; /* of the last try: 0, -EWOULDBLOCK, or another error */
};

static int open_lock(const char *spool_dir, struct error *err)
{
    char path[PATH_MAX];
    size_t len = strlen(spool_dir);
    while (len > 1 && spool_dir[len - 1] == '/')
        len--;
    int printed = snprintf(path, sizeof(path), "%.*s.lock", (int)len, spool_dir);
    if (printed < 0 || (size_t)printed >= sizeof(path))
        return error_set(err, ENAMETOOLONG, "%s.lock: the path is too long", spool_dir);
    /* Not the spool itself: the agent could lock that. */
    cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, errno, "open the lock %s", path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_set_errno(err, errno, "look at the lock %s", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return error_set(err, EEXIST, "%s must be a file of uid %u's that nobody else can open",
                         path, (unsigned int)geteuid());
    return TAKE_FD(fd);
}

static void try_lock(void *arg);

static void wait_to_try(struct standby *standby)
{
    deadline_arm(&standby->server->jailer->deadlines, &standby->again,
                 clock_boottime_ns() + STANDBY_AGAIN_MS * UINT64_C(1000000), try_lock, standby);
}

static void try_lock(void *arg)
{
    struct standby *standby = arg;
    standby->result = flock(standby->lock_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
    if (standby->result == -EWOULDBLOCK)
        wait_to_try(standby);
}

/* Agents are told, unless the jailer that has the lock listens at the same place: then they are
 * its. */
static int listen_meanwhile(struct server *server, const struct options *options, struct error *err)
{
    int r = server_listen(server, options->socket_path, options->peer_uid, err);
    if (r < 0 && r != -EADDRINUSE)
        return r;
    log_event(LOG_LEVEL_INFO, "standing by: another jailer works for this node's spool",
              LOG_TEXT("spool", options->spool_dir), LOG_TEXT("agents", r < 0 ? err->text : NULL));
    server_stand_by(server);
    return 0;
}

static int loop(struct standby *standby, struct error *err)
{
    struct jailer *jailer = standby->server->jailer;
    uint64_t began_ns = clock_boottime_ns();
    int r = 0;
    wait_to_try(standby);
    while (r >= 0 && standby->result == -EWOULDBLOCK && !server_is_done(standby->server))
        r = events_turn(&jailer->events, err);
    deadline_disarm(&jailer->deadlines, &standby->again);
    if (r >= 0 && standby->result == 0)
        log_event(LOG_LEVEL_INFO, "taking over, the other jailer has ended",
                  LOG_NUMBER("waitedMs", (long long)((clock_boottime_ns() - began_ns) / 1000000)));
    return r;
}

int standby_wait(struct server *server, const struct options *options, int *ret_lock,
                 struct error *err)
{
    cleanup_close int fd = open_lock(options->spool_dir, err);
    if (fd < 0)
        return fd;
    struct standby standby = {.server = server, .lock_fd = fd};
    standby.result = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
    if (standby.result == -EWOULDBLOCK) {
        int r = listen_meanwhile(server, options, err);
        if (r >= 0)
            r = loop(&standby, err);
        if (r < 0)
            return r;
    }
    if (standby.result < 0 && standby.result != -EWOULDBLOCK)
        return error_set_errno(err, -standby.result, "lock %s.lock", options->spool_dir);
    *ret_lock = standby.result == 0 ? TAKE_FD(fd) : -1;
    return 0;
}
