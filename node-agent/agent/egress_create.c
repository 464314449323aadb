/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/egress_create.h"

#include <assert.h>
#include <string.h>

static_assert((unsigned int)MAX_EGRESS_PREFIXES <= PROTO_MAX_PREFIXES, "every prefix fits");
static_assert((unsigned int)MAX_EGRESS_NAMES <= PROTO_MAX_NAMES, "every name fits");
static_assert((unsigned int)MAX_EGRESS_NAME_BYTES <= PROTO_NAMES_SIZE, "the names' text fits");
static_assert(EGRESS_PORT_HTTP == PROTO_PORT_HTTP && EGRESS_PORT_HTTPS == PROTO_PORT_HTTPS,
              "ports are the same bits");

void egress_create(const struct egress_rules *rules, struct proto_egress *ret_egress)
{
    struct proto_egress egress = {0};
    if (rules) {
        egress.has_rules = 1;
        egress.prefix_count = (uint32_t)rules->prefix_count;
        egress.name_count = (uint32_t)rules->name_count;
        egress.name_bytes = (uint32_t)rules->name_bytes;
        memcpy(egress.name_text, rules->name_text, rules->name_bytes);
    }
    for (size_t i = 0; i < egress.prefix_count; i++) {
        const struct egress_prefix *from = &rules->prefixes[i];
        struct proto_prefix *to = &egress.prefixes[i];
        to->family = (uint8_t)from->prefix.address.family;
        to->length = from->prefix.length;
        to->ports = from->ports;
        memcpy(to->bytes, from->prefix.address.bytes, sizeof(to->bytes));
    }
    for (size_t i = 0; i < egress.name_count; i++)
        egress.names[i] =
            (struct proto_name){.ports = rules->names[i].ports, .offset = rules->names[i].offset};
    *ret_egress = egress;
}
