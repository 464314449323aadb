/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/net/nft_elements.h"
#include "node-agent/proto/proto_egress.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What the jailer and its two network helpers say to each other, as fixed records, one a packet.
 * Both are the jailer's own forks: what is malformed is a bug, and ends the helper.
 *
 *   jailer                      "net" (net_helper.h)
 *                <-----------    NET_STARTED: the table is loaded, or why not; once, first
 *   NET_TAKE     ----------->    NET_TAKEN: the slot's sandbox may be made
 *   NET_RELEASE  ----------->    NET_DENIED: what it was refused; then, when nothing of it is left
 *                                in the tables, NET_FREED
 *   NET_ALLOW    ----------->    NET_ALLOWED: an address of a name
 *   NET_RESOLVER ----------->    no answer
 *
 *   jailer                      "slots" (slot_maker.h)
 *   MAKER_MAKE   ----------->    MAKER_MADE, with the slot's network namespace
 */
enum net_request_kind { NET_TAKE = 1, NET_RELEASE = 2, NET_ALLOW = 3, NET_RESOLVER = 4 };

struct net_allow {
    uint64_t sequence; /* the resolver's */
    uint64_t timeout_ms;
    struct ip_address address;
    uint32_t ports; /* bits of proto_egress.h */
};

/* Only the part that the kind has is sent: see net_request_size(). */
struct net_request {
    uint32_t kind;
    uint32_t slot;
    union {
        struct net_allow allow;
        uint32_t port; /* of NET_RESOLVER; 0: there is none */
        struct proto_egress egress;
    };
};

enum net_answer_kind {
    NET_STARTED = 1,
    NET_TAKEN = 2,
    NET_DENIED = 3,
    NET_FREED = 4,
    NET_ALLOWED = 5,
};

struct net_started {
    uint32_t mtu;
    uint32_t ipv6;
    uint32_t ipv6_dropped; /* slots have none, for what they sent would not leave the node */
    uint32_t tracked;      /* connections that the kernel tracks at most; 0: not told */
};

struct net_answer {
    uint32_t kind;
    uint32_t slot;
    struct error error; /* code 0: it was done */
    union {
        struct net_started started;
        uint64_t sequence; /* of NET_ALLOWED */
        struct nft_denied denied;
    };
};

struct maker_request {
    uint32_t slot;
};

struct maker_answer {
    uint32_t slot;
    struct error error;
};

/* The bytes of a request that are sent, 0 for an unknown kind. Rules are much the largest part, and
 * most runs have none: such a NET_TAKE ends behind has_rules. */
static inline size_t net_request_size(const struct net_request *request)
{
    switch (request->kind) {
    case NET_TAKE:
        return request->egress.has_rules
                   ? sizeof(*request)
                   : offsetof(struct net_request, egress) + sizeof(request->egress.has_rules);
    case NET_RELEASE:
        return offsetof(struct net_request, allow);
    case NET_ALLOW:
        return offsetof(struct net_request, allow) + sizeof(request->allow);
    case NET_RESOLVER:
        return offsetof(struct net_request, port) + sizeof(request->port);
    default:
        return 0;
    }
}
