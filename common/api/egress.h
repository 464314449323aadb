/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"
#include "common/error.h"
#include "common/json.h"
#include "common/net/ip_prefix.h"

#include <stddef.h>
#include <stdint.h>

/*
 * spec.egress: the egress rules of a NetworkPolicy (networking.k8s.io/v1), with the same meaning,
 * and DNS names as peers. They narrow what a ToolCall run reaches at most, TCP 80 and 443 of
 * public addresses, so of all ports two bits are left. Compiled to a flat list: an address may be
 * connected to if one of the prefixes has it, for that port, or if the resolver gave it for a name
 * that one of the patterns matches, for that port.
 */
#define EGRESS_PORT_HTTP  1u /* TCP 80 */
#define EGRESS_PORT_HTTPS 2u /* TCP 443 */
#define EGRESS_PORTS_ALL  (EGRESS_PORT_HTTP | EGRESS_PORT_HTTPS)

struct egress_prefix {
    struct ip_prefix prefix;
    uint8_t ports; /* at least one bit */
};

struct egress_name {
    uint8_t ports;
    uint16_t offset; /* of the pattern in name_text */
};

/* Ordered by family and address. Of the prefixes with one port no two overlap; each pattern is
 * there once. Without any entry nothing is allowed. */
struct egress_rules {
    size_t prefix_count;
    struct egress_prefix prefixes[MAX_EGRESS_PREFIXES];
    size_t name_count;
    struct egress_name names[MAX_EGRESS_NAMES];
    size_t name_bytes; /* of all patterns with their NULs */
    char name_text[MAX_EGRESS_NAME_BYTES];
};

/* Checks and compiles a list of rules; the caller frees *ret_rules. An unknown field is refused
 * always: a rule understood in part could allow more than was meant. -EINVAL names the field:
 * "spec.egress[1].to[0].ipBlock.except[2]: ...". */
int egress_decode(const cJSON *list, struct egress_rules **ret_rules, struct error *err);

/* Adds what is allowed, whatever is there already. -ENOSPC leaves rules as they were. */
int egress_allow_prefix(struct egress_rules *rules, const struct ip_prefix *prefix, uint8_t ports);
int egress_allow_name(struct egress_rules *rules, const char *pattern, uint8_t ports);

/* Brings the prefixes into the order and form that struct egress_rules promises. */
void egress_reduce(struct egress_rules *rules);
