/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/ip_prefix.h"
#include "common/net/name_pattern.h"
#include "node-agent/proto/proto_fields.h"
#include "node-agent/proto/wire.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define ALL_PORTS    (PROTO_PORT_HTTP | PROTO_PORT_HTTPS)
#define ADDRESS_SIZE 16u
#define PREFIX_WIRE  (3u + ADDRESS_SIZE)
#define NAME_WIRE    3u

static_assert(PROTO_MAX_PREFIXES * PREFIX_WIRE + PROTO_MAX_NAMES * NAME_WIRE + 16u +
                      PROTO_NAMES_SIZE ==
                  PROTO_EGRESS_WIRE,
              "the length on the wire is that of its parts");
static_assert(MAX_NAME_PATTERN < PROTO_NAME_SIZE, "a name fits with its NUL");

static bool is_ports(uint8_t ports)
{
    return ports != 0 && (ports & ~ALL_PORTS) == 0;
}

static const char *prefixes_fault(const struct proto_egress *egress)
{
    if (egress->prefix_count > PROTO_MAX_PREFIXES)
        return "has more prefixes than there can be";
    for (size_t i = 0; i < PROTO_MAX_PREFIXES; i++) {
        const struct proto_prefix *entry = &egress->prefixes[i];
        if (i >= egress->prefix_count) {
            if (!wire_is_zero(entry, sizeof(*entry)))
                return "has entries beyond prefix_count";
            continue;
        }
        struct ip_prefix prefix = {.address.family = (enum ip_family)entry->family,
                                   .length = entry->length};
        memcpy(prefix.address.bytes, entry->bytes, sizeof(entry->bytes));
        if (!ip_prefix_is_valid(&prefix))
            return "has a prefix that is none";
        if (!is_ports(entry->ports))
            return "has a prefix without a port, or with an unknown one";
    }
    return NULL;
}

/* The patterns lie one behind the other, so that their offsets say nothing that the text doesn't.
 */
static const char *names_fault(const struct proto_egress *egress)
{
    if (egress->name_count > PROTO_MAX_NAMES || egress->name_bytes > PROTO_NAMES_SIZE)
        return "has more names than there can be";
    size_t end = 0;
    for (size_t i = 0; i < PROTO_MAX_NAMES; i++) {
        const struct proto_name *name = &egress->names[i];
        if (i >= egress->name_count) {
            if (name->ports != 0 || name->offset != 0)
                return "has entries beyond name_count";
            continue;
        }
        if (!is_ports(name->ports))
            return "has a name without a port, or with an unknown one";
        size_t left = egress->name_bytes - end;
        const char *text = egress->name_text + end;
        size_t len = strnlen(text, left);
        if (name->offset != end || len == left || !name_pattern_is_valid(text))
            return "has a name that is none";
        end += len + 1;
    }
    if (end != egress->name_bytes || !wire_is_zero(egress->name_text + end, PROTO_NAMES_SIZE - end))
        return "has bytes behind its names";
    return NULL;
}

const char *proto_egress_fault(const struct proto_egress *egress)
{
    if (egress->has_rules > 1)
        return "is out of range";
    if (!egress->has_rules && (egress->prefix_count != 0 || egress->name_count != 0))
        return "has entries and no rules";
    const char *fault = prefixes_fault(egress);
    return fault ? fault : names_fault(egress);
}

void proto_egress_put(uint8_t *bytes, const struct proto_egress *egress)
{
    wire_put_le(bytes, egress->has_rules, 4);
    wire_put_le(bytes + 4, egress->prefix_count, 4);
    bytes += 8;
    for (size_t i = 0; i < PROTO_MAX_PREFIXES; i++, bytes += PREFIX_WIRE) {
        const struct proto_prefix *prefix = &egress->prefixes[i];
        bytes[0] = prefix->family;
        bytes[1] = prefix->length;
        bytes[2] = prefix->ports;
        memcpy(bytes + 3, prefix->bytes, ADDRESS_SIZE);
    }
    wire_put_le(bytes, egress->name_count, 4);
    bytes += 4;
    for (size_t i = 0; i < PROTO_MAX_NAMES; i++, bytes += NAME_WIRE) {
        bytes[0] = egress->names[i].ports;
        wire_put_le(bytes + 1, egress->names[i].offset, 2);
    }
    wire_put_le(bytes, egress->name_bytes, 4);
    memcpy(bytes + 4, egress->name_text, PROTO_NAMES_SIZE);
}

void proto_egress_get(const uint8_t *bytes, struct proto_egress *egress)
{
    egress->has_rules = (uint32_t)wire_get_le(bytes, 4);
    egress->prefix_count = (uint32_t)wire_get_le(bytes + 4, 4);
    bytes += 8;
    for (size_t i = 0; i < PROTO_MAX_PREFIXES; i++, bytes += PREFIX_WIRE) {
        struct proto_prefix *prefix = &egress->prefixes[i];
        prefix->family = bytes[0];
        prefix->length = bytes[1];
        prefix->ports = bytes[2];
        memcpy(prefix->bytes, bytes + 3, ADDRESS_SIZE);
    }
    egress->name_count = (uint32_t)wire_get_le(bytes, 4);
    bytes += 4;
    for (size_t i = 0; i < PROTO_MAX_NAMES; i++, bytes += NAME_WIRE) {
        egress->names[i].ports = bytes[0];
        egress->names[i].offset = (uint16_t)wire_get_le(bytes + 1, 2);
    }
    egress->name_bytes = (uint32_t)wire_get_le(bytes, 4);
    memcpy(egress->name_text, bytes + 4, PROTO_NAMES_SIZE);
}
