/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/slot_rules.h"

#include "common/net/ip_prefix.h"

#include <string.h>

static const uint8_t bits[] = {PROTO_PORT_HTTP, PROTO_PORT_HTTPS};

uint16_t slot_rules_port(uint8_t bit)
{
    return bit == PROTO_PORT_HTTP ? 80 : 443;
}

static void read_prefix(const struct proto_prefix *from, struct ip_prefix *ret_prefix)
{
    *ret_prefix = (struct ip_prefix){
        .address.family = from->family == 4 ? IP_FAMILY_4 : IP_FAMILY_6, .length = from->length};
    memcpy(ret_prefix->address.bytes, from->bytes, sizeof(from->bytes));
}

/* Of two equal ones the first stays. */
static int is_covered(const struct proto_egress *egress, uint32_t index, uint8_t bit)
{
    struct ip_prefix inner, outer;
    read_prefix(&egress->prefixes[index], &inner);
    for (uint32_t i = 0; i < egress->prefix_count; i++) {
        if (i == index || !(egress->prefixes[i].ports & bit))
            continue;
        read_prefix(&egress->prefixes[i], &outer);
        if (ip_prefix_covers(&outer, &inner) && (outer.length < inner.length || i < index))
            return 1;
    }
    return 0;
}

static void fill(const struct proto_prefix *prefix, uint8_t bit, struct slot_rule *ret_rule)
{
    *ret_rule = (struct slot_rule){.family = prefix->family, .port = slot_rules_port(bit)};
    memcpy(ret_rule->first, prefix->bytes, sizeof(ret_rule->first));
    memcpy(ret_rule->last, prefix->bytes, sizeof(ret_rule->last));
    unsigned int width = prefix->family == 4 ? 32 : 128;
    for (unsigned int at = prefix->length; at < width; at++)
        ret_rule->last[at / 8] |= (uint8_t)(0x80u >> at % 8);
}

size_t slot_rules_list(const struct proto_egress *egress,
                       struct slot_rule ret_rules[static SLOT_MAX_RULES])
{
    size_t count = 0;
    for (uint32_t i = 0; i < egress->prefix_count && i < PROTO_MAX_PREFIXES; i++) {
        for (size_t b = 0; b < sizeof(bits); b++) {
            if ((egress->prefixes[i].ports & bits[b]) && !is_covered(egress, i, bits[b]))
                fill(&egress->prefixes[i], bits[b], &ret_rules[count++]);
        }
    }
    return count;
}
