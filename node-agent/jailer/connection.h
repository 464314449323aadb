/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/events.h"
#include "node-agent/proto/proto.h"

#include <stddef.h>

/*
 * The socket to one agent. Words that its buffer has no room for wait in a queue with a maximum;
 * what comes in is decoded, and anything that isn't a message ends the connection.
 */
struct connection_outgoing;

struct connection_handlers {
    /* A negative value, with err set, ends the connection. */
    int (*message)(const struct proto_message *message, void *arg, struct error *err);
    /* Called once, after the socket was closed. err is NULL if the agent left. */
    void (*ended)(const struct error *err, void *arg);
    void *arg;
};

struct connection {
    struct event_source source;
    struct events *events;
    struct connection_handlers handlers;
    struct connection_outgoing *queue;
    struct connection_outgoing **queue_end;
    unsigned int queued;
};

/* Takes over sock, which must be nonblocking. */
int connection_open(struct connection *connection, struct events *events, int sock,
                    const struct connection_handlers *handlers, struct error *err);

/* Closes without calling back. */
void connection_close(struct connection *connection);

bool connection_is_open(const struct connection *connection);

/* Sends or queues; the descriptors stay the caller's. A queue at its maximum, or a message that
 * can't be sent, ends the connection. */
void connection_say(struct connection *connection, const struct proto_message *message,
                    const int *fds, size_t count);
