/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/net/ip_prefix.h"

#include <stdint.h>

/*
 * What follows from the number of a jailer and the number of a slot: names, addresses, marks. A
 * slot is a network namespace for one sandbox, joined by a veth pair to the jailer's own. Pure.
 *
 *   jailer's end sbrK-N, gateway    K-th 64th of the range + 2N
 *   sandbox's end eth0              K-th 64th of the range + 2N + 1
 */
#define NET_MAX_JAILERS   64u
#define NET_MAX_SLOTS     128u
#define NET_MAX_FORBIDDEN 64u
#define NET_IFNAME_SIZE   16
#define NET_TABLE_SIZE    24
#define NET_MAC_SIZE      6
#define NET_INSIDE_NAME   "eth0"

#define NET_DEFAULT_RANGE4 "198.19.192.0/18"
#define NET_DEFAULT_RANGE6 "fd53:6272::/112"

/* Jailers above 64 run out of IPv4 addresses first: two for a slot. */
#define NET_MIN_RANGE4_LENGTH 8u
#define NET_MAX_RANGE4_LENGTH 25u
#define NET_RANGE6_LENGTH     112u

/* Conntrack marks of a jailer's slots: 0x5b52KKNN. */
#define NET_MARK_BASE 0x5b520000u
#define NET_MARK_MASK 0xffffff00u

/* What all slots of a jailer share. */
struct net_plan {
    uint32_t jailer; /* K */
    uint32_t slot_count;
    struct ip_prefix range4, range6; /* of all jailers */
    struct ip_prefix part4, part6;   /* of this one */
    uint32_t forbidden_count;
    struct ip_prefix forbidden[NET_MAX_FORBIDDEN]; /* what node and cluster add */
};

enum net_end { NET_GATEWAY = 0, NET_SANDBOX = 1 };

/* Checks the ranges and cuts the jailer's part; slot_count is lowered to what fits in it. -EINVAL
 * with what is wrong. */
int net_plan_init(struct net_plan *ret_plan, uint32_t jailer, uint32_t slot_count,
                  const struct ip_prefix *range4, const struct ip_prefix *range6,
                  struct error *err);

/* -EINVAL: no range of slots can have this length or family. */
int net_plan_check_range4(const struct ip_prefix *range, struct error *err);
int net_plan_check_range6(const struct ip_prefix *range, struct error *err);

void net_plan_address(const struct net_plan *plan, uint32_t slot, enum ip_family family,
                      enum net_end end, struct ip_address *ret_address);

/* Locally administered, the same for every namespace that the slot ever has. */
void net_plan_mac(const struct net_plan *plan, uint32_t slot, enum net_end end,
                  uint8_t ret_mac[static NET_MAC_SIZE]);

void net_plan_ifname(uint32_t jailer, uint32_t slot, char ret_name[static NET_IFNAME_SIZE]);
void net_plan_table(uint32_t jailer, char ret_name[static NET_TABLE_SIZE]);

/* The table that says that a jailer of this number is there: it goes with its owner. */
void net_plan_lock_table(uint32_t jailer, char ret_name[static NET_TABLE_SIZE]);

uint32_t net_plan_mark(uint32_t jailer, uint32_t slot);
