/* SPDX-License-Identifier: Apache-2.0 */
#include "common/http_driver.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>

struct http_driver {
    struct MHD_Daemon *daemon;
    struct loop_io *io;
    struct loop_timer *timer;
};

static unsigned int connection_count(const struct http_driver *driver)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(driver->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

/* One turn of libmicrohttpd, then its next time-out into the timer. At the connection cap it
 * stops to watch its listening socket, and begins again only in the turn after one has ended. */
static void turn(struct http_driver *driver)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms = 0;
    unsigned int before = 0;
    do {
        before = connection_count(driver);
        (void)MHD_run(driver->daemon);
    } while (connection_count(driver) < before);
    if (MHD_get_timeout(driver->daemon, &timeout_ms) == MHD_YES)
        (void)loop_timer_arm(driver->timer, timeout_ms);
    else
        loop_timer_disarm(driver->timer);
}

static void on_ready(int fd, unsigned int events, void *arg)
{
    (void)fd;
    (void)events;
    turn(arg);
}

static void on_timeout(void *arg)
{
    turn(arg);
}

int http_driver_new(struct loop *loop, struct MHD_Daemon *daemon, struct http_driver **ret_driver)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return -EIO;
    struct http_driver *driver = calloc(1, sizeof(*driver));
    if (!driver)
        return -ENOMEM;
    driver->daemon = daemon;
    int r = loop_timer_new(loop, on_timeout, driver, &driver->timer);
    if (r == 0)
        r = loop_io_new(loop, info->epoll_fd, LOOP_READ, on_ready, driver, &driver->io);
    if (r < 0) {
        http_driver_free(driver);
        return r;
    }
    *ret_driver = driver;
    return 0;
}

void http_driver_free(struct http_driver *driver)
{
    if (!driver)
        return;
    loop_io_free(driver->io);
    loop_timer_free(driver->timer);
    free(driver);
}

void http_driver_wake(struct http_driver *driver)
{
    (void)loop_timer_arm(driver->timer, 0);
}
