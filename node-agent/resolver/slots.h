/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/resolver_proto.h"
#include "node-agent/resolver/answer_cache.h"
#include "node-agent/resolver/budget.h"

#include <sys/socket.h>

/* The sandboxes that may ask, by their network slot. */
struct slot {
    bool is_open;
    uint64_t generation; /* of the last sandbox here; 0: there was none */
    char id[PROTO_ID_SIZE];
    struct proto_egress egress;
    struct budget budget;
    struct answer_cache cache;
    unsigned int lookups;         /* under way */
    unsigned int tcp_connections; /* of its */
};

struct slots {
    struct resolver_hello hello; /* slot_count 0: there is no jailer yet */
    unsigned int open_count;
    struct slot entries[RESOLVER_MAX_SLOTS];
};

int slots_new(struct slots **ret_slots, struct error *err);
void slots_free(struct slots *slots);

/* The slot whose sandbox has this address, as its index, also if it is not open. -ENOENT. */
int slots_find(const struct slots *slots, const struct sockaddr *address);

/* -EPROTO: it is open, or there is no such slot. A sandbox that comes back after the connection to
 * the jailer was lost goes on with what is left of its budget. */
int slots_open(struct slots *slots, const struct resolver_open *open, struct error *err);

/* False if it isn't that sandbox's any more. */
bool slots_close(struct slots *slots, const struct resolver_close *closing);

/* All of them, budgets kept for slots_open(). */
void slots_close_all(struct slots *slots);
