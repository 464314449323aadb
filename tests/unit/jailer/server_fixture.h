/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The server with its real socket, and sandboxes that only tell what was done to them. */
#include "node-agent/jailer/sandbox.h"
#include "node-agent/jailer/server.h"
#include "tests/unit/common/cmocka_setup.h"

#define ID "01234567-89ab-cdef-0123-456789abcdef"

/* The one sandbox that there is, how it answers, and what was done to it. */
extern struct sandbox fake;
extern bool fake_refuses;
extern uint32_t fake_timeout_ms;
extern enum proto_end fake_end;
extern char fake_refusal_lock[PROTO_LOCK_SIZE];

/* One that waits in a pool, if it is in none: what pools_take() gives. */
extern struct sandbox *fake_waiting;
extern bool fake_adopt_fails;
extern bool fake_adopted;

struct fixture {
    struct jailer jailer;
    struct server server;
    int agent;
};

extern struct fixture fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A server as at first, whose next agent is yet to come; that agent. */
void fixture_begin_anew(void);
void fixture_connect(void);

/* A listening server, as if the listener had accepted its agent. */
void fixture_be_listening(void);

/* The agent's end: the next word, which has to be of this type; one of its own; its end. */
struct proto_message fixture_receive(enum proto_type type);
void fixture_tell(const struct proto_message *message);
bool fixture_connection_ended(void);

struct proto_message fixture_create_message(void);
struct proto_message fixture_start_message(uint32_t timeout_ms);
