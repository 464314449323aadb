/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/netns_pool.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "node-agent/jailer/helper.h"
#include "node-agent/jailer/pass_fd.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* One datagram of one byte asks for one namespace; one with the descriptor answers. */
#define ASK "n"

/* -1 if there is none; the helper is our own and sends nothing else. */
static int receive_namespace(int sock)
{
    char byte = 0;
    int fd = -1;
    return pass_fd_receive(sock, &byte, sizeof(byte), &fd) > 0 ? fd : -1;
}

struct maker {
    int sock;
    int proc_fd;
};

static int make_one(const struct maker *maker, int home_fd)
{
    if (unshare(CLONE_NEWNET) < 0)
        return -errno;
    cleanup_close int fd = openat(maker->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    /* Back home: a namespace that the helper stayed in would outlive its sandbox. */
    if (fd < 0 || setns(home_fd, CLONE_NEWNET) < 0)
        return -errno;
    return pass_fd_send(maker->sock, ASK, 1, fd);
}

static int maker_main(const void *arg)
{
    const struct maker *maker = arg;
    int home_fd = openat(maker->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    char byte = 0;
    while (home_fd >= 0 && recv(maker->sock, &byte, sizeof(byte), 0) > 0) {
        if (make_one(maker, home_fd) < 0)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

void netns_pool_init(struct netns_pool *pool, struct events *events, int proc_fd)
{
    *pool = (struct netns_pool){.events = events,
                                .proc_fd = proc_fd,
                                .socket = EVENT_SOURCE_INIT,
                                .helper = EVENT_SOURCE_INIT};
}

static void stop_helper(struct netns_pool *pool)
{
    (void)fd_close(events_remove(pool->events, &pool->socket));
    helper_end(events_remove(pool->events, &pool->helper));
}

static void on_helper_exit(uint32_t events, void *arg)
{
    (void)events;
    log_event(LOG_LEVEL_WARN, "no network namespaces are made ahead any more: the helper ended");
    stop_helper(arg);
}

static void on_socket(uint32_t events, void *arg)
{
    (void)events;
    struct netns_pool *pool = arg;
    int fd = -1;
    while (pool->asked_count > 0 && (fd = receive_namespace(pool->socket.fd)) >= 0) {
        pool->asked_count--;
        pool->ready[pool->ready_count++] = fd;
    }
    /* At its end the pidfd has the rest to say. */
    if (events & (EPOLLHUP | EPOLLERR))
        (void)fd_close(events_remove(pool->events, &pool->socket));
}

/* Up to the maximum, those on the way included. */
static void ask(struct netns_pool *pool)
{
    while (pool->socket.fd >= 0 && pool->ready_count + pool->asked_count < MAX_READY_NETNS) {
        if (send(pool->socket.fd, ASK, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
            return;
        pool->asked_count++;
    }
}

static int start_helper(struct netns_pool *pool)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return -errno;
    cleanup_close int ours = socks[0];
    cleanup_close int theirs = socks[1];
    const struct maker maker = {.sock = theirs, .proc_fd = pool->proc_fd};
    const int keep[] = {theirs, pool->proc_fd};
    int pidfd =
        helper_start("netns", HELPER_NAMESPACES, keep, ARRAY_SIZE(keep), maker_main, &maker);
    if (pidfd < 0)
        return pidfd;
    int r = events_add(pool->events, &pool->helper, pidfd, EPOLLIN, on_helper_exit, pool);
    if (r < 0) {
        helper_end(pidfd);
        return r;
    }
    r = events_add(pool->events, &pool->socket, ours, EPOLLIN, on_socket, pool);
    if (r < 0) {
        stop_helper(pool);
        return r;
    }
    (void)TAKE_FD(ours);
    ask(pool);
    return 0;
}

int netns_pool_take(struct netns_pool *pool)
{
    if (pool->taken < 2)
        pool->taken++;
    return pool->ready_count > 0 ? pool->ready[--pool->ready_count] : -1;
}

void netns_pool_refill(struct netns_pool *pool)
{
    if (pool->taken < 2)
        return;
    if (pool->helper.fd >= 0) {
        ask(pool);
        return;
    }
    /* Once: a helper that can't be started or has ended is not tried again for each run. */
    if (pool->started)
        return;
    pool->started = true;
    int r = start_helper(pool);
    if (r < 0)
        log_event(LOG_LEVEL_WARN, "no network namespaces are made ahead: no helper",
                  LOG_NUMBER("errno", -r));
}

void netns_pool_done(struct netns_pool *pool)
{
    if (!pool->events)
        return;
    stop_helper(pool);
    while (pool->ready_count > 0)
        (void)fd_close(pool->ready[--pool->ready_count]);
}
