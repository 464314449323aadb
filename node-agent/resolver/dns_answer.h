/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/net/ip_prefix.h"
#include "node-agent/resolver/dns_query.h"
#include "node-agent/resolver/resolver_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept of an upstream's answer: the CNAMEs from the asked name on, in their order, and the
 * addresses of the name that they end at. Nothing else of it ever reaches a sandbox. */
struct dns_cname {
    struct dns_name target;
    uint32_t ttl;
};

struct dns_address {
    struct ip_address address;
    uint32_t ttl;
};

struct dns_answer {
    enum dns_rcode rcode; /* 0 to 15 */
    bool truncated;       /* then there is nothing in it */
    unsigned int cname_count;
    struct dns_cname cnames[MAX_ANSWER_CNAMES];
    unsigned int address_count;
    struct dns_address addresses[MAX_ANSWER_ADDRESSES];
    unsigned int left_out; /* addresses beyond the last of them */
};

/* -ENOENT: not an answer to this id and question; somebody guesses, or it is late. -EBADMSG: it is,
 * and is malformed, has too many records, or CNAMEs that branch or go round. */
int dns_answer_parse(const uint8_t *bytes, size_t len, const struct dns_query *query, uint16_t id,
                     struct dns_answer *ret_answer);

/* The shortest TTL in it; MAX_REPLY_TTL if there is none. */
uint32_t dns_answer_ttl(const struct dns_answer *answer);
