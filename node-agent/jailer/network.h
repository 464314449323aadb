/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/deadline.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/net/net_messages.h"
#include "node-agent/jailer/net/net_plan.h"
#include "node-agent/jailer/resolver_link.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The network of the sandboxes that have one. A sandbox gets a lease of a slot before it is cloned:
 * a network namespace that nobody has used, and rules that are in force. All that the kernel makes
 * one wait for is done by two helpers (net_helper.h, slot_maker.h); the loop sends and receives.
 *
 *   slot    FREE --maker--> MADE --lease, NET_TAKE--> TAKING --> HELD --NET_RELEASE--> CLOSING --.
 *            ^                                                                                   |
 *            `---------------------------------- NET_FREED --------------------------------------'
 *
 * The number of a slot comes again, its namespace never: what was one sandbox's goes with it.
 */
enum network_state {
    NETWORK_OFF,      /* this jailer has none; why says so */
    NETWORK_IDLE,     /* can be started: when the first lease is asked for */
    NETWORK_STARTING, /* the table is being loaded */
    NETWORK_UP,
    NETWORK_DOWN, /* its helper has ended: tried again once no lease is left */
};

enum slot_state {
    SLOT_FREE,
    SLOT_MAKING,
    SLOT_MADE,
    SLOT_TAKING,
    SLOT_HELD,
    SLOT_CLOSING,
    SLOT_LOST /* what it has in the kernel could not be removed: never used again */
};

struct slot {
    enum slot_state state;
    int ns_fd; /* of SLOT_MADE */
    uint64_t generation;
    uint64_t free_since_ns;
    uint64_t not_before_ns;
    struct network_lease *lease; /* of TAKING, HELD, CLOSING; NULL once nobody waits for it */
};

struct network_lease {
    struct network *network;
    struct network_lease *next; /* in the queue */
    bool queued;
    struct slot *slot; /* NULL: none yet, or not any more */
    int ns_fd;         /* until the sandbox's process has it */
    char id[PROTO_ID_SIZE];
    struct proto_egress egress;
    /* Called once, from the loop: err is NULL when the rules are in force. */
    void (*taken)(const struct error *err, void *arg);
    /* Called once after network_release(): denied is complete, or known is false. */
    void (*released)(void *arg);
    void *arg;
    bool known, more_names;
    struct nft_denied denied;
    uint32_t name_count;
    struct proto_denied_name names[PROTO_MAX_DENIED_NAMES];
};

struct network_options {
    uint32_t slot_count; /* that can exist */
    uint32_t ahead;      /* made before they are asked for */
    struct ip_prefix range4, range6;
    uint32_t forbidden_count;
    struct ip_prefix forbidden[NET_MAX_FORBIDDEN];
    bool shared; /* the network namespace is not the jailer's alone */
};

struct network_helper {
    struct event_source socket;
    struct event_source process; /* its pidfd */
};

struct network {
    struct events *events;
    struct deadlines *deadlines;
    int proc_fd;
    enum network_state state;
    struct error why; /* of OFF and DOWN */
    struct net_plan plan;
    uint32_t ahead;
    bool shared;
    struct net_started started;
    struct resolver_link resolver;
    struct network_helper rules, maker; /* net_helper.h, slot_maker.h */
    uint64_t maker_since_ns;
    struct deadline again;
    uint64_t not_before_ns; /* of a new start */
    uint64_t last_generation;
    uint32_t allows; /* on the way */
    struct network_lease *queue, **queue_end;
    struct slot slots[NET_MAX_SLOTS];
};

void network_init(struct network *network, struct events *events, struct deadlines *deadlines,
                  int proc_fd);

/* As NETWORK_IDLE. -EINVAL: the ranges can't be used. */
int network_configure(struct network *network, uint32_t jailer,
                      const struct network_options *options, struct error *err);

/* Where the resolver comes from; behind network_configure(). */
int network_listen_resolver(struct network *network, const char *path, uid_t peer_uid,
                            struct error *err);
int network_adopt_resolver(struct network *network, int sock, struct error *err);

/* Leaves it off, for this reason. */
void network_forbid(struct network *network, const struct error *why);

/* Starts it, and waits: only before the loop runs. */
int network_start_and_wait(struct network *network, struct error *err);

bool network_is_offered(const struct network *network);

/* Asks for a lease of a new slot for a run. taken is called later, never from within.
 * -EOPNOTSUPP, -EHOSTDOWN (no resolver) with the reason. */
int network_take(struct network *network, const struct proto_create *create,
                 void (*taken)(const struct error *err, void *arg), void (*released)(void *arg),
                 void *arg, struct network_lease **ret_lease, struct error *err);

/* The namespace, once, the caller's to close; -1 if it has been taken. */
int network_lease_take_fd(struct network_lease *lease);

/* Where the sandbox finds its resolver. Of a lease that has been taken. */
void network_lease_gateway(const struct network_lease *lease, struct ip_address *ret_address);

/* The sandbox is gone, or never was: nothing is let out any more. released is called later, or at
 * once where nothing has to be waited for. */
void network_release(struct network_lease *lease);

/* Frees it; a slot that it still has is given back without it. NULL is fine. */
void network_lease_free(struct network_lease *lease);

/* Has slots made for those that were taken: when nobody waits. */
void network_refill(struct network *network);

/* Ends the helpers, and waits until the network is as it was before. */
void network_done(struct network *network);
