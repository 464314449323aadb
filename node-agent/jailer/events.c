/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/events.h"

#include "common/cleanup.h"
#include "node-agent/jailer/limits.h"

#include <sys/epoll.h>

int events_init(struct events *events, struct error *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "create an epoll descriptor");
    *events = (struct events){.epoll_fd = fd};
    return 0;
}

void events_done(struct events *events)
{
    events->epoll_fd = fd_close(events->epoll_fd);
}

int events_add(struct events *events, struct event_source *source, int fd, uint32_t mask,
               event_fn fn, void *arg)
{
    struct epoll_event event = {.events = mask, .data.ptr = source};
    if (epoll_ctl(events->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
        return -errno;
    *source = (struct event_source){.fd = fd, .fn = fn, .arg = arg};
    return 0;
}

int events_modify(struct events *events, struct event_source *source, uint32_t mask)
{
    struct epoll_event event = {.events = mask, .data.ptr = source};
    return epoll_ctl(events->epoll_fd, EPOLL_CTL_MOD, source->fd, &event) < 0 ? -errno : 0;
}

int events_remove(struct events *events, struct event_source *source)
{
    int fd = source->fd;
    /* Not left to close(): a child that is just being cloned holds the same open file. */
    if (fd >= 0)
        (void)epoll_ctl(events->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    source->fd = -1;
    return fd;
}

int events_turn(struct events *events, struct error *err)
{
    struct epoll_event batch[MAX_EVENTS_PER_TURN];
    int count = epoll_wait(events->epoll_fd, batch, MAX_EVENTS_PER_TURN, -1);
    if (count < 0 && errno == EINTR)
        return 0;
    if (count < 0)
        return error_set_errno(err, errno, "wait for events");
    for (int i = 0; i < count; i++) {
        struct event_source *source = batch[i].data.ptr;
        /* Removed by an earlier one of this batch. */
        if (source->fd >= 0)
            source->fn(batch[i].events, source->arg);
    }
    return 0;
}
