/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What a ToolCall run may reach, as compiled rules. */
#define PROTO_MAX_PREFIXES 64
#define PROTO_MAX_NAMES    16
#define PROTO_NAMES_SIZE   1024
#define PROTO_NAME_SIZE    256 /* a DNS name in text, NUL-padded */

/* Bits of ports: what a ToolCall run can reach at most, and a rule narrows. */
#define PROTO_PORT_HTTP  1u /* TCP 80 */
#define PROTO_PORT_HTTPS 2u /* TCP 443 */

struct proto_prefix {
    uint8_t family; /* 4 or 6 */
    uint8_t length;
    uint8_t ports;     /* at least one bit */
    uint8_t bytes[16]; /* network byte order; zero behind length */
};

/* A pattern as common/net/name_pattern.h has it, at offset in name_text. */
struct proto_name {
    uint8_t ports;
    uint16_t offset;
};

/* Everything is zero without rules: public HTTP and HTTPS. With has_rules and no entries nothing
 * is allowed. The patterns lie in name_text one behind the other, in the order of names, each
 * with its NUL; name_bytes is the length of all of them. */
struct proto_egress {
    uint32_t has_rules;
    uint32_t prefix_count;
    struct proto_prefix prefixes[PROTO_MAX_PREFIXES];
    uint32_t name_count;
    struct proto_name names[PROTO_MAX_NAMES];
    uint32_t name_bytes;
    char name_text[PROTO_NAMES_SIZE];
};
