/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/events.h"
#include "node-agent/proto/resolver_proto.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The jailer's end of its connection to the resolver, one at a time, as resolver_proto.h has it. A
 * resolver that says what isn't in order, or does not read, is dropped, and may come again.
 */
struct resolver_handlers {
    void (*ready)(uint16_t port, void *arg);
    void (*gone)(void *arg);
    void (*allow)(const struct resolver_allow *allow, void *arg);
    void (*denied)(const struct resolver_denied *denied, void *arg);
    void *arg;
};

struct resolver_link {
    struct events *events;
    struct resolver_handlers handlers;
    struct resolver_hello hello;
    struct event_source listener;
    int listen_fd; /* -1: it was given to us, and can't come again */
    const char *path;
    uid_t peer_uid;
    struct event_source connection;
    bool configured; /* there is one, or may be one */
    bool ready;
    uint16_t port; /* that it serves, once it is ready */
};

void resolver_link_init(struct resolver_link *link, struct events *events,
                        const struct resolver_handlers *handlers);

/* Accepts a resolver of peer_uid at path, whose last part is made. hello is said to each. */
int resolver_link_listen(struct resolver_link *link, const char *path, uid_t peer_uid,
                         const struct resolver_hello *hello, struct error *err);

/* The resolver at the other end of a connected socket, which is taken over. */
int resolver_link_adopt(struct resolver_link *link, int sock, const struct resolver_hello *hello,
                        struct error *err);

/* Sends; nothing where no resolver is ready. */
void resolver_link_say(struct resolver_link *link, const struct resolver_message *message);

void resolver_link_done(struct resolver_link *link);
