/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/dns_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Queries: what a client may ask, and how an upstream is asked (RFC 1035, 6891). */
#define DNS_HEADER_SIZE   12u
#define DNS_TYPE_A        1u
#define DNS_TYPE_CNAME    5u
#define DNS_TYPE_AAAA     28u
#define DNS_TYPE_OPT      41u
#define DNS_CLASS_IN      1u
#define DNS_UDP_SIZE      512u  /* of a client without EDNS */
#define DNS_EDNS_SIZE     1232u /* what we offer and use at most: fits every path's MTU */
#define DNS_UPSTREAM_SIZE (DNS_HEADER_SIZE + DNS_MAX_NAME + 4u + 11u)

#define DNS_FLAG_RESPONSE  0x8000u
#define DNS_FLAG_OPCODE    0x7800u
#define DNS_FLAG_TRUNCATED 0x0200u
#define DNS_FLAG_RECURSION 0x0100u /* desired */
#define DNS_FLAG_AVAILABLE 0x0080u
#define DNS_FLAG_ZERO      0x0040u
#define DNS_FLAG_RCODE     0x000fu

enum dns_rcode {
    DNS_RCODE_OK = 0,
    DNS_RCODE_FORMERR = 1,
    DNS_RCODE_SERVFAIL = 2,
    DNS_RCODE_NXDOMAIN = 3,
    DNS_RCODE_NOTIMP = 4,
    DNS_RCODE_REFUSED = 5,
    DNS_RCODE_BADVERS = 16, /* with EDNS only */
};

struct dns_query {
    uint16_t id;
    bool recursion; /* desired; copied into the reply */
    bool has_question;
    struct dns_name name;
    uint8_t asked[DNS_MAX_NAME]; /* the same as name, spelled as it came */
    uint16_t type;
    bool has_edns;
    uint16_t udp_size; /* what the client takes: DNS_UDP_SIZE to DNS_EDNS_SIZE */
};

enum dns_query_verdict {
    DNS_QUERY_OK,
    DNS_QUERY_IGNORE, /* too short for an answer, or itself one */
    DNS_QUERY_FORMERR,
    DNS_QUERY_NOTIMP,  /* another opcode */
    DNS_QUERY_BADVERS, /* of EDNS */
    DNS_QUERY_REFUSED, /* another class */
};

/* One question, nothing else but an OPT record, no compression, no byte behind. ret_query has as
 * much as dns_reply_error() needs, also where the verdict isn't OK. */
enum dns_query_verdict dns_query_parse(const uint8_t *bytes, size_t len,
                                       struct dns_query *ret_query);

/* The question as an upstream is asked: lower case, recursion desired, plain EDNS. Its length. */
size_t dns_query_build(const struct dns_query *query, uint16_t id,
                       uint8_t ret_bytes[static DNS_UPSTREAM_SIZE]);

uint16_t dns_get16(const uint8_t *bytes);
uint32_t dns_get32(const uint8_t *bytes);
void dns_put16(uint8_t *bytes, uint16_t value);
void dns_put32(uint8_t *bytes, uint32_t value);
