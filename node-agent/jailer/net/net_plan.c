/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/net_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Adds to the last 32 bits. The parts are aligned, so nothing carries further. */
static void add(struct ip_address *address, uint32_t value)
{
    uint8_t *last = address->bytes + (address->family == IP_FAMILY_4 ? 0 : 12);
    uint32_t number = (uint32_t)last[0] << 24 | (uint32_t)last[1] << 16 | (uint32_t)last[2] << 8 |
                      (uint32_t)last[3];
    number += value;
    for (int i = 0; i < 4; i++)
        last[i] = (uint8_t)(number >> (24 - 8 * i));
}

int net_plan_check_range4(const struct ip_prefix *range, struct error *err)
{
    char text[IP_PREFIX_TEXT_SIZE];
    ip_prefix_print(range, text);
    if (range->address.family != IP_FAMILY_4)
        return error_set(err, EINVAL, "%s is not a range of IPv4 addresses", text);
    if (range->length < NET_MIN_RANGE4_LENGTH || range->length > NET_MAX_RANGE4_LENGTH)
        return error_set(
            err, EINVAL,
            "%s must have a length from %u to %u: each of %u jailers has its part, and "
            "each slot two addresses of it",
            text, NET_MIN_RANGE4_LENGTH, NET_MAX_RANGE4_LENGTH, NET_MAX_JAILERS);
    return 0;
}

int net_plan_check_range6(const struct ip_prefix *range, struct error *err)
{
    char text[IP_PREFIX_TEXT_SIZE];
    ip_prefix_print(range, text);
    if (range->address.family != IP_FAMILY_6)
        return error_set(err, EINVAL, "%s is not a range of IPv6 addresses", text);
    if (range->length != NET_RANGE6_LENGTH)
        return error_set(err, EINVAL, "%s must have a length of %u", text, NET_RANGE6_LENGTH);
    return 0;
}

/* The jailer-th of the NET_MAX_JAILERS (a power of two: 6 bits) equal parts. */
static uint32_t cut_part(const struct ip_prefix *range, uint32_t jailer, struct ip_prefix *ret_part)
{
    uint32_t size = UINT32_C(1) << (ip_family_bits(range->address.family) - range->length - 6);
    *ret_part = *range;
    ret_part->length = (uint8_t)(range->length + 6);
    add(&ret_part->address, jailer * size);
    return size;
}

int net_plan_init(struct net_plan *ret_plan, uint32_t jailer, uint32_t slot_count,
                  const struct ip_prefix *range4, const struct ip_prefix *range6, struct error *err)
{
    struct net_plan plan = {.jailer = jailer, .range4 = *range4, .range6 = *range6};
    if (jailer >= NET_MAX_JAILERS)
        return error_set(err, EINVAL, "network slots are for jailers up to %u, this is %u",
                         NET_MAX_JAILERS - 1, jailer);
    int r = net_plan_check_range4(range4, err);
    if (r >= 0)
        r = net_plan_check_range6(range6, err);
    if (r < 0)
        return r;
    uint32_t size4 = cut_part(range4, jailer, &plan.part4);
    uint32_t size6 = cut_part(range6, jailer, &plan.part6);
    plan.slot_count = slot_count < NET_MAX_SLOTS ? slot_count : NET_MAX_SLOTS;
    if (plan.slot_count > size4 / 2)
        plan.slot_count = size4 / 2;
    if (plan.slot_count > size6 / 2)
        plan.slot_count = size6 / 2;
    *ret_plan = plan;
    return 0;
}

void net_plan_address(const struct net_plan *plan, uint32_t slot, enum ip_family family,
                      enum net_end end, struct ip_address *ret_address)
{
    *ret_address = family == IP_FAMILY_4 ? plan->part4.address : plan->part6.address;
    add(ret_address, 2 * slot + (uint32_t)end);
}

void net_plan_mac(const struct net_plan *plan, uint32_t slot, enum net_end end,
                  uint8_t ret_mac[static NET_MAC_SIZE])
{
    const uint8_t mac[NET_MAC_SIZE] = {0x02,          0x53,        0x42, (uint8_t)plan->jailer,
                                       (uint8_t)slot, (uint8_t)end};
    memcpy(ret_mac, mac, sizeof(mac));
}

void net_plan_ifname(uint32_t jailer, uint32_t slot, char ret_name[static NET_IFNAME_SIZE])
{
    memset(ret_name, 0, NET_IFNAME_SIZE);
    (void)snprintf(ret_name, NET_IFNAME_SIZE, "sbr%u-%u", jailer % 1000, slot % 1000);
}

void net_plan_table(uint32_t jailer, char ret_name[static NET_TABLE_SIZE])
{
    (void)snprintf(ret_name, NET_TABLE_SIZE, "sandboxrun_%u", jailer % 1000);
}

void net_plan_lock_table(uint32_t jailer, char ret_name[static NET_TABLE_SIZE])
{
    (void)snprintf(ret_name, NET_TABLE_SIZE, "sandboxrun_lock_%u", jailer % 1000);
}

uint32_t net_plan_mark(uint32_t jailer, uint32_t slot)
{
    return NET_MARK_BASE | jailer << 8 | slot;
}
