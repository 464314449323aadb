/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/resolver_link.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/log.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/listen.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Room for what is said at once to a resolver that comes again: all slots that are open. */
#define SEND_BUFFER_SIZE (1 << 20)

void resolver_link_init(struct resolver_link *link, struct events *events,
                        const struct resolver_handlers *handlers)
{
    *link = (struct resolver_link){.events = events,
                                   .listener = EVENT_SOURCE_INIT,
                                   .listen_fd = -1,
                                   .connection = EVENT_SOURCE_INIT};
    if (handlers)
        link->handlers = *handlers;
}

static void on_listener(uint32_t events, void *arg);

static int watch_listener(struct resolver_link *link)
{
    if (link->listen_fd < 0)
        return 0;
    return events_add(link->events, &link->listener, link->listen_fd, EPOLLIN, on_listener, link);
}

static void drop(struct resolver_link *link, const struct error *err)
{
    bool was_ready = link->ready;
    (void)fd_close(events_remove(link->events, &link->connection));
    link->ready = false;
    log_event(LOG_LEVEL_WARN, "connection to the resolver ended",
              LOG_TEXT("error", err ? err->text : NULL));
    if (was_ready)
        link->handlers.gone(link->handlers.arg);
    int r = watch_listener(link);
    if (r < 0)
        log_event(LOG_LEVEL_ERROR, "no resolver can connect any more", LOG_NUMBER("errno", -r));
}

static int take_message(struct resolver_link *link, const struct resolver_message *message,
                        struct error *err)
{
    if (message->type == RESOLVER_READY && !link->ready) {
        if (message->ready.version != RESOLVER_PROTO_VERSION)
            return error_set(err, EPROTO, "the resolver speaks version %u, the jailer %u",
                             message->ready.version, RESOLVER_PROTO_VERSION);
        link->ready = true;
        link->port = (uint16_t)message->ready.port;
        link->handlers.ready((uint16_t)message->ready.port, link->handlers.arg);
        return 0;
    }
    if (message->type == RESOLVER_ALLOW && link->ready)
        link->handlers.allow(&message->allow, link->handlers.arg);
    else if (message->type == RESOLVER_DENIED && link->ready)
        link->handlers.denied(&message->denied, link->handlers.arg);
    else
        return error_set(err, EPROTO, "the resolver said %d out of turn", (int)message->type);
    return 0;
}

static void on_connection(uint32_t events, void *arg)
{
    (void)events;
    struct resolver_link *link = arg;
    struct resolver_message message;
    struct error err = {0};
    /* A bounded number, so that a talkative resolver does not hold up the deadlines. */
    for (unsigned int i = 0; i < MAX_MESSAGES_PER_TURN && link->connection.fd >= 0; i++) {
        int r = resolver_proto_receive(link->connection.fd, &message, &err);
        if (r == -EAGAIN)
            return;
        if (r > 0)
            r = take_message(link, &message, &err);
        else if (r == 0)
            r = error_set(&err, EPIPE, "it left");
        if (r < 0) {
            drop(link, &err);
            return;
        }
    }
}

static int open_connection(struct resolver_link *link, int sock, struct error *err)
{
    const int size = SEND_BUFFER_SIZE;
    const struct resolver_message hello = {.type = RESOLVER_HELLO, .hello = link->hello};
    (void)setsockopt(sock, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
    int r = resolver_proto_send(sock, &hello);
    if (r < 0)
        return error_set_errno(err, -r, "greet the resolver");
    r = events_add(link->events, &link->connection, sock, EPOLLIN, on_connection, link);
    return r < 0 ? error_set_errno(err, -r, "watch the resolver's socket") : 0;
}

static int check_peer(const struct resolver_link *link, int sock, struct error *err)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return error_set_errno(err, errno, "read the peer's credentials");
    if (peer.uid != link->peer_uid)
        return error_set(err, EPERM, "the peer has uid %u, the resolver %u", peer.uid,
                         link->peer_uid);
    return 0;
}

static void on_listener(uint32_t events, void *arg)
{
    (void)events;
    struct resolver_link *link = arg;
    struct error err = {0};
    cleanup_close int sock = accept4(link->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (sock < 0)
        return;
    if (check_peer(link, sock, &err) < 0 || open_connection(link, sock, &err) < 0) {
        log_event(LOG_LEVEL_WARN, "turned a resolver away", LOG_TEXT("error", err.text));
        return;
    }
    (void)TAKE_FD(sock);
    (void)events_remove(link->events, &link->listener);
}

int resolver_link_listen(struct resolver_link *link, const char *path, uid_t peer_uid,
                         const struct resolver_hello *hello, struct error *err)
{
    int sock = listen_open(path, peer_uid, err);
    if (sock < 0)
        return sock;
    link->configured = true;
    link->listen_fd = sock;
    link->path = path;
    link->peer_uid = peer_uid;
    link->hello = *hello;
    int r = watch_listener(link);
    return r < 0 ? error_set_errno(err, -r, "watch the resolver's listening socket") : 0;
}

int resolver_link_adopt(struct resolver_link *link, int sock, const struct resolver_hello *hello,
                        struct error *err)
{
    if (fcntl(sock, F_SETFD, FD_CLOEXEC) < 0)
        return error_set_errno(err, errno, "--resolver-fd %d", sock);
    int r = fd_set_nonblock(sock, true);
    if (r < 0)
        return error_set_errno(err, -r, "make the resolver's socket nonblocking");
    link->configured = true;
    link->hello = *hello;
    return open_connection(link, sock, err);
}

void resolver_link_say(struct resolver_link *link, const struct resolver_message *message)
{
    if (!link->ready)
        return;
    int r = resolver_proto_send(link->connection.fd, message);
    if (r < 0) {
        struct error err;
        (void)error_set_errno(&err, -r, "say something to the resolver");
        drop(link, &err);
    }
}

void resolver_link_done(struct resolver_link *link)
{
    if (!link->events)
        return;
    link->ready = false;
    (void)events_remove(link->events, &link->listener);
    if (link->listen_fd >= 0)
        (void)unlink(link->path);
    link->listen_fd = fd_close(link->listen_fd);
    (void)fd_close(events_remove(link->events, &link->connection));
}
