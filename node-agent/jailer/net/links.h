/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/net/net_plan.h"
#include "node-agent/jailer/net/netlink.h"

#include <stdbool.h>
#include <stdint.h>

/* Interfaces, addresses and routes, by sockets of NETLINK_ROUTE (rtnetlink(7)). */

/* Makes a slot's veth pair, the inner end directly in the namespace of ns_fd (moving one there
 * would cost a grace period), with its addresses and routes, and no need of a neighbour's answer.
 * inside is a socket of that namespace. -EEXIST: the pair of an earlier run isn't gone yet. */
int links_make_slot(struct netlink *outside, struct netlink *inside, int ns_fd,
                    const struct net_plan *plan, uint32_t slot, bool ipv6, uint32_t mtu,
                    struct error *err);

/* The MTU of the interface that the default route leads to, IPv4 first; 1500 if there is none. */
uint32_t links_uplink_mtu(struct netlink *netlink);

/* -EADDRINUSE if a route of this namespace, other than the default ones and those of slots, leads
 * into a range of the plan, or a range into it; names both. */
int links_check_ranges(struct netlink *netlink, const struct net_plan *plan, struct error *err);

/* The number of this jailer's interfaces that exist. */
int links_count_slots(struct netlink *netlink, uint32_t jailer, uint32_t *ret_count,
                      struct error *err);

/* Deletes this jailer's interfaces. */
int links_delete_slots(struct netlink *netlink, uint32_t jailer, struct error *err);

/* Whether a default route of IPv6 came by a router's advertisement: turning forwarding on would
 * remove it. */
int links_has_advertised_route(struct netlink *netlink, bool *ret_has, struct error *err);
