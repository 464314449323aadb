/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/loop.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/* The other end of a jailer's socket, on the same loop: keeps what it is asked, says what a test
 * tells it to, and can play a whole jail with pipes of its own. */
#define MAX_FAKE_REQUESTS 512

struct fake_jailer {
    struct loop *loop;
    int sock;
    int client_sock; /* for jailer_client_new() */
    int listener;
    struct loop_io *listener_io;
    struct loop_io *io;
    const struct proto_check *checks; /* said before its hello to whom it has waited for */
    size_t check_count;
    struct proto_message requests[MAX_FAKE_REQUESTS];
    size_t request_count;
    /* Called for each request, after it was kept; may be NULL. */
    void (*on_request)(struct fake_jailer *fake, const struct proto_message *message, void *arg);
    void *arg;
    /* The jail's ends of the pipes that fake_jailer_created() made. */
    int request_fd;
    int stdout_fd;
    int stderr_fd;
    int backstop_fd;
    bool denies_network; /* says of each run that it was refused an address */
};

void fake_jailer_open(struct fake_jailer *fake, struct loop *loop);
void fake_jailer_close(struct fake_jailer *fake);

/* Waits for one agent at a socket's path, and says hello to it. */
void fake_jailer_listen(struct fake_jailer *fake, struct loop *loop, const char *path);

/* The jailer is gone. */
void fake_jailer_die(struct fake_jailer *fake);

/* No longer reads what it is asked. */
void fake_jailer_deafen(struct fake_jailer *fake);

void fake_jailer_say(struct fake_jailer *fake, const struct proto_message *message);
void fake_jailer_hello(struct fake_jailer *fake);
void fake_jailer_created(struct fake_jailer *fake, const char *id);
void fake_jailer_refused(struct fake_jailer *fake, const char *id, uint32_t errnum,
                         const char *lock, const char *text);
void fake_jailer_finished(struct fake_jailer *fake, const char *id, enum proto_end end,
                          int wait_status);

/* How many requests of this type have come. */
size_t fake_jailer_count(const struct fake_jailer *fake, enum proto_type type);

/* What is left until the timer of the last jail expires; 0: it isn't set. */
uint64_t fake_jailer_backstop_ms(const struct fake_jailer *fake);
