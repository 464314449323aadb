/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/connection.h"

#include "common/cleanup.h"
#include "node-agent/jailer/limits.h"

#include <fcntl.h>
#include <sys/epoll.h>

struct connection_outgoing {
    struct connection_outgoing *next;
    struct proto_message message;
    int fds[PROTO_CREATED_FDS];
    size_t count;
};

static void outgoing_free(struct connection_outgoing *outgoing)
{
    for (size_t i = 0; i < outgoing->count; i++)
        (void)fd_close(outgoing->fds[i]);
    free(outgoing);
}

static void queue_pop(struct connection *connection)
{
    struct connection_outgoing *first = connection->queue;
    connection->queue = first->next;
    if (!connection->queue)
        connection->queue_end = &connection->queue;
    connection->queued--;
    outgoing_free(first);
}

void connection_close(struct connection *connection)
{
    (void)fd_close(events_remove(connection->events, &connection->source));
    while (connection->queue)
        queue_pop(connection);
}

static void connection_end(struct connection *connection, const struct error *err)
{
    if (!connection_is_open(connection))
        return;
    connection_close(connection);
    connection->handlers.ended(err, connection->handlers.arg);
}

bool connection_is_open(const struct connection *connection)
{
    return connection->source.fd >= 0;
}

static void end_with_send_error(struct connection *connection, int r)
{
    struct error err;
    (void)error_set_errno(&err, -r, "send to the agent");
    connection_end(connection, &err);
}

static void queue_flush(struct connection *connection)
{
    while (connection->queue) {
        const struct connection_outgoing *first = connection->queue;
        int r = proto_send(connection->source.fd, &first->message, first->fds, first->count);
        if (r == -EAGAIN)
            return;
        if (r < 0) {
            end_with_send_error(connection, r);
            return;
        }
        queue_pop(connection);
    }
    (void)events_modify(connection->events, &connection->source, EPOLLIN);
}

static int queue_add(struct connection *connection, const struct proto_message *message,
                     const int *fds, size_t count)
{
    if (connection->queued >= MAX_OUTGOING)
        return -ENOBUFS;
    struct connection_outgoing *outgoing = calloc(1, sizeof(*outgoing));
    if (!outgoing)
        return -ENOMEM;
    outgoing->message = *message;
    for (; outgoing->count < count; outgoing->count++) {
        int copy = fcntl(fds[outgoing->count], F_DUPFD_CLOEXEC, 0);
        if (copy < 0) {
            int failure = errno;
            outgoing_free(outgoing);
            return -failure;
        }
        outgoing->fds[outgoing->count] = copy;
    }
    *connection->queue_end = outgoing;
    connection->queue_end = &outgoing->next;
    connection->queued++;
    return events_modify(connection->events, &connection->source, EPOLLIN | EPOLLOUT);
}

void connection_say(struct connection *connection, const struct proto_message *message,
                    const int *fds, size_t count)
{
    if (!connection_is_open(connection))
        return;
    int r = -EAGAIN;
    if (!connection->queue)
        r = proto_send(connection->source.fd, message, fds, count);
    if (r == -EAGAIN)
        r = queue_add(connection, message, fds, count);
    if (r < 0)
        end_with_send_error(connection, r);
}

/* False once there is nothing more to read for now. */
static bool receive_one(struct connection *connection)
{
    struct proto_message message;
    struct error err = {0};
    int r = proto_receive(connection->source.fd, &message, NULL, NULL, &err);
    if (r == -EAGAIN)
        return false;
    if (r == 0) {
        connection_end(connection, NULL);
        return false;
    }
    if (r > 0)
        r = connection->handlers.message(&message, connection->handlers.arg, &err);
    if (r < 0)
        connection_end(connection, &err);
    return connection_is_open(connection);
}

static void on_socket(uint32_t events, void *arg)
{
    struct connection *connection = arg;
    if (events & EPOLLOUT)
        queue_flush(connection);
    if (!connection_is_open(connection) || !(events & ~(uint32_t)EPOLLOUT))
        return;
    for (unsigned int i = 0; i < MAX_MESSAGES_PER_TURN && receive_one(connection); i++)
        continue;
}

int connection_open(struct connection *connection, struct events *events, int sock,
                    const struct connection_handlers *handlers, struct error *err)
{
    *connection =
        (struct connection){.source = EVENT_SOURCE_INIT, .events = events, .handlers = *handlers};
    connection->queue_end = &connection->queue;
    int r = events_add(events, &connection->source, sock, EPOLLIN, on_socket, connection);
    return r < 0 ? error_set_errno(err, -r, "watch the agent's socket") : 0;
}
