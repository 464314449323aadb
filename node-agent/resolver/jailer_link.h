/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/proto/resolver_proto.h"

#include <stdbool.h>

/*
 * The connection to the jailer: it is made, kept, and made again when it is lost, at first after
 * JAILER_RETRY_LEAST_MS, then with jittered exponential back-off until one lasts. A given
 * descriptor is one connection; its end is the end.
 */
struct jailer_link;

struct jailer_link_handlers {
    /* A hello has come: gets ready for it; -errno ends the connection. */
    int (*serve)(const struct resolver_hello *hello, struct error *err, void *arg);
    /* The hello was answered. */
    void (*up)(const struct resolver_hello *hello, void *arg);
    /* OPEN, CLOSE and OPENED; -errno ends the connection. */
    int (*message)(const struct resolver_message *message, struct error *err, void *arg);
    /* jailer_link_send() will do again, after -EAGAIN. */
    void (*writable)(void *arg);
    /* It was up and isn't any more. */
    void (*down)(void *arg);
    /* The given descriptor has ended. */
    void (*ended)(void *arg);
};

/* path: of the jailer's socket; NULL: fd is the connection, and ours from now on. port goes into
 * READY. Nothing is called from within. */
int jailer_link_new(struct loop *loop, const char *path, int fd, unsigned int port,
                    const struct jailer_link_handlers *handlers, void *arg,
                    struct jailer_link **ret_link, struct error *err);
void jailer_link_free(struct jailer_link *link);

/* By a descriptor, for the runs of one command. */
bool jailer_link_is_given(const struct jailer_link *link);
bool jailer_link_is_up(const struct jailer_link *link);

/* 0; -EAGAIN: later, see writable; -ENOTCONN. */
int jailer_link_send(struct jailer_link *link, const struct resolver_message *message);
