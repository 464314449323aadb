/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_egress.h"

#include <stddef.h>
#include <stdint.h>

/* One entry of a set allow4_N or allow6_N: addresses from first to last, and a port. */
struct slot_rule {
    uint8_t family; /* 4 or 6 */
    uint16_t port;
    uint8_t first[16], last[16];
};

#define SLOT_MAX_RULES ((size_t)PROTO_MAX_PREFIXES * 2)

/* The prefixes of a run as entries that don't overlap, which the kernel would refuse: of two
 * prefixes with a port in common one contains the other, and the smaller one goes. Pure. */
size_t slot_rules_list(const struct proto_egress *egress,
                       struct slot_rule ret_rules[static SLOT_MAX_RULES]);

/* The port of a bit of proto_egress.h. */
uint16_t slot_rules_port(uint8_t bit);
