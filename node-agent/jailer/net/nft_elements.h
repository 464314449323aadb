/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/net/ip_prefix.h"
#include "node-agent/jailer/net/net_plan.h"
#include "node-agent/jailer/net/netlink.h"
#include "node-agent/proto/proto_denied.h"
#include "node-agent/proto/proto_egress.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What changes in a jailer's table while it works: elements of sets and maps, each change one
 * transaction. Over a socket of NETLINK_NETFILTER.
 */

/* What a slot's sandbox was refused. */
struct nft_denied {
    bool more; /* than entries has */
    uint32_t count;
    struct proto_denied_network entries[PROTO_MAX_DENIED_NETWORK]; /* most frequent first */
};

/* A table that the socket owns: the kernel removes it when that is closed. -EEXIST or -EPERM while
 * another one's is there. */
int nft_elements_lock(struct netlink *netlink, uint32_t jailer, struct error *err);

/* Whether any jailer but this one has its lock in this namespace. */
int nft_elements_find_others(struct netlink *netlink, uint32_t jailer, bool *ret_found,
                             struct error *err);

/* Lets the slot's sandbox connect: by rules, or to public HTTP and HTTPS where it has none. */
int nft_elements_take(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                      const struct proto_egress *egress, struct error *err);

/* Nothing is let out any more, and of what the sandbox had in the sets nothing is left. */
int nft_elements_release(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                         struct error *err);

int nft_elements_read_denied(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                             struct nft_denied *ret_denied, struct error *err);

/* An address of one of the slot's names, for timeout_ms from now, with ports as proto_egress.h. */
int nft_elements_allow(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                       const struct ip_address *address, uint8_t ports, uint64_t timeout_ms,
                       struct error *err);

/* The resolver's port, 0: there is none, and lookups are refused. */
int nft_elements_set_resolver(struct netlink *netlink, uint32_t jailer, uint16_t port,
                              struct error *err);

/* With its rules. */
int nft_elements_delete_chain(struct netlink *netlink, uint32_t jailer, const char *chain,
                              struct error *err);

/* Without it being there, success. */
int nft_elements_delete_table(struct netlink *netlink, uint32_t jailer, struct error *err);
