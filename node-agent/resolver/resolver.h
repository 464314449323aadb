/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/resolver/address_filter.h"
#include "node-agent/resolver/jailer_link.h"
#include "node-agent/resolver/slots.h"
#include "node-agent/resolver/upstreams.h"

/* What all parts of the program share. */
struct lookup;
struct udp_server;
struct tcp_server;

struct resolver {
    struct loop *loop;
    const struct upstreams *upstreams;
    struct slots *slots;
    struct address_filter filter;
    struct jailer_link *link;
    struct udp_server *udp;
    struct tcp_server *tcp;
    unsigned int port;      /* of both */
    struct lookup *lookups; /* under way, the newest first */
    unsigned int lookup_count;
    unsigned int tcp_count;
    uint64_t last_sequence; /* of ALLOW */
    struct token_bucket log;
    bool ending;              /* as soon as no sandbox needs it */
    void (*ended)(void *arg); /* the jailer that was given by a descriptor is gone, or told to */
    void *arg;
};

/* port 0: any. Either path or fd names the jailer. upstreams and path outlive it. */
int resolver_new(struct loop *loop, const struct upstreams *upstreams, unsigned int port,
                 const char *jailer_socket, int jailer_fd, void (*ended)(void *arg), void *arg,
                 struct resolver **ret_resolver, struct error *err);
void resolver_free(struct resolver *resolver);

/* Calls ended once no sandbox has a slot, or the jailer that knows of them is gone: at once where
 * that is so, or where the jailer was given by a descriptor. */
void resolver_end(struct resolver *resolver);

/* Those that a sandbox has. */
unsigned int resolver_open_slots(const struct resolver *resolver);

/* NULL: it serves; else why it doesn't. */
const char *resolver_unready(const struct resolver *resolver);

uint64_t resolver_now_ms(void);
