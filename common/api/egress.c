/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/egress.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static_assert(MAX_EGRESS_NAME_BYTES <= UINT16_MAX, "offsets reach every pattern");

static bool is_same(const struct ip_prefix *a, const struct ip_prefix *b)
{
    return a->length == b->length && ip_address_equal(&a->address, &b->address);
}

int egress_allow_prefix(struct egress_rules *rules, const struct ip_prefix *prefix, uint8_t ports)
{
    for (size_t i = 0; i < rules->prefix_count; i++) {
        struct egress_prefix *entry = &rules->prefixes[i];
        if (is_same(&entry->prefix, prefix)) {
            entry->ports |= ports;
            return 0;
        }
        if (ip_prefix_covers(&entry->prefix, prefix) && (ports & ~entry->ports) == 0)
            return 0;
    }
    if (rules->prefix_count == MAX_EGRESS_PREFIXES)
        return -ENOSPC;
    rules->prefixes[rules->prefix_count++] =
        (struct egress_prefix){.prefix = *prefix, .ports = ports};
    return 0;
}

int egress_allow_name(struct egress_rules *rules, const char *pattern, uint8_t ports)
{
    for (size_t i = 0; i < rules->name_count; i++) {
        struct egress_name *entry = &rules->names[i];
        if (strcmp(rules->name_text + entry->offset, pattern) == 0) {
            entry->ports |= ports;
            return 0;
        }
    }
    size_t size = strlen(pattern) + 1;
    if (rules->name_count == MAX_EGRESS_NAMES ||
        size > sizeof(rules->name_text) - rules->name_bytes)
        return -ENOSPC;
    memcpy(rules->name_text + rules->name_bytes, pattern, size);
    rules->names[rules->name_count++] =
        (struct egress_name){.ports = ports, .offset = (uint16_t)rules->name_bytes};
    rules->name_bytes += size;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct ip_prefix *a = &((const struct egress_prefix *)left)->prefix;
    const struct ip_prefix *b = &((const struct egress_prefix *)right)->prefix;
    if (a->address.family != b->address.family)
        return a->address.family < b->address.family ? -1 : 1;
    int order = memcmp(a->address.bytes, b->address.bytes, sizeof(a->address.bytes));
    return order != 0 ? order : (int)a->length - (int)b->length;
}

/* The ports that wider entries allow for the whole of the index-th one already. */
static uint8_t ports_around(const struct egress_rules *rules, size_t index)
{
    uint8_t ports = 0;
    for (size_t i = 0; i < rules->prefix_count; i++) {
        if (i != index &&
            ip_prefix_covers(&rules->prefixes[i].prefix, &rules->prefixes[index].prefix))
            ports |= rules->prefixes[i].ports;
    }
    return ports;
}

void egress_reduce(struct egress_rules *rules)
{
    uint8_t kept[MAX_EGRESS_PREFIXES];
    size_t count = 0;
    for (size_t i = 0; i < rules->prefix_count; i++)
        kept[i] = rules->prefixes[i].ports & (uint8_t)~ports_around(rules, i);
    for (size_t i = 0; i < rules->prefix_count; i++) {
        if (kept[i] == 0)
            continue;
        rules->prefixes[count] = rules->prefixes[i];
        rules->prefixes[count++].ports = kept[i];
    }
    memset(&rules->prefixes[count], 0, (rules->prefix_count - count) * sizeof(*rules->prefixes));
    rules->prefix_count = count;
    qsort(rules->prefixes, count, sizeof(*rules->prefixes), compare);
}
