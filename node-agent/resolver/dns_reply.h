/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/dns_answer.h"
#include "node-agent/resolver/dns_query.h"

/* Replies to a sandbox, always built from typed values. */
#define DNS_MAX_REPLY                                                                              \
    (DNS_HEADER_SIZE + DNS_MAX_NAME + 4u + MAX_ANSWER_CNAMES * (12u + DNS_MAX_NAME) +              \
     MAX_ANSWER_ADDRESSES * 28u + 17u)

/* Why there is no answer, for those who ask with EDNS (RFC 8914); 0: it isn't said. */
enum dns_extended_error {
    DNS_EXTENDED_NONE = 0,
    DNS_EXTENDED_BLOCKED = 15,    /* a forbidden address */
    DNS_EXTENDED_PROHIBITED = 18, /* a cap, or no sandbox that is known */
    DNS_EXTENDED_FILTERED = 17,   /* a name that the run's rules don't allow */
    DNS_EXTENDED_NO_UPSTREAM = 22,
};

/* A reply without records; its length. rcode OK: there is nothing of the asked type. */
size_t dns_reply_error(const struct dns_query *query, enum dns_rcode rcode,
                       enum dns_extended_error why, uint8_t ret_bytes[static DNS_MAX_REPLY]);

/* The answer with its TTLs less age seconds, or an empty one with TC set where it takes more than
 * max bytes; its length. */
size_t dns_reply_answer(const struct dns_query *query, const struct dns_answer *answer,
                        uint32_t age, size_t max, uint8_t ret_bytes[static DNS_MAX_REPLY]);
