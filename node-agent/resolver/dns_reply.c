/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/dns_reply.h"

#include <assert.h>
#include <string.h>

#define OPT_SIZE          11u
#define OPTION_SIZE       6u
#define OPTION_EXTENDED   15u /* RFC 8914 section 2 */
#define POINTER           0xc000u
#define FIXED_RECORD_HEAD 12u /* a pointer as the owner, and the fixed part */

static_assert(DNS_MAX_REPLY < 0x4000, "a pointer reaches every name of a reply");

static size_t put_head(const struct dns_query *query, unsigned int rcode, bool truncated,
                       uint8_t *bytes)
{
    unsigned int flags = DNS_FLAG_RESPONSE | DNS_FLAG_AVAILABLE | (rcode & DNS_FLAG_RCODE);
    if (query->recursion)
        flags |= DNS_FLAG_RECURSION;
    if (truncated)
        flags |= DNS_FLAG_TRUNCATED;
    memset(bytes, 0, DNS_HEADER_SIZE);
    dns_put16(bytes, query->id);
    dns_put16(bytes + 2, (uint16_t)flags);
    if (!query->has_question)
        return DNS_HEADER_SIZE;
    dns_put16(bytes + 4, 1);
    uint8_t *at = bytes + DNS_HEADER_SIZE;
    memcpy(at, query->asked, query->name.len);
    at += query->name.len;
    dns_put16(at, query->type);
    dns_put16(at + 2, DNS_CLASS_IN);
    return DNS_HEADER_SIZE + query->name.len + 4u;
}

static size_t put_opt(const struct dns_query *query, unsigned int rcode,
                      enum dns_extended_error why, uint8_t *bytes, size_t len)
{
    if (!query->has_edns)
        return len;
    uint8_t *at = bytes + len;
    memset(at, 0, OPT_SIZE);
    dns_put16(at + 1, DNS_TYPE_OPT);
    dns_put16(at + 3, DNS_EDNS_SIZE);
    at[5] = (uint8_t)(rcode >> 4);
    dns_put16(bytes + 10, 1);
    if (why == DNS_EXTENDED_NONE)
        return len + OPT_SIZE;
    dns_put16(at + 9, OPTION_SIZE);
    at += OPT_SIZE;
    dns_put16(at, OPTION_EXTENDED);
    dns_put16(at + 2, 2);
    dns_put16(at + 4, (uint16_t)why);
    return len + OPT_SIZE + OPTION_SIZE;
}

static size_t put_record(uint8_t *bytes, size_t len, size_t owner, uint16_t type, uint32_t ttl,
                         const uint8_t *data, size_t size)
{
    uint8_t *at = bytes + len;
    dns_put16(at, (uint16_t)(POINTER | owner));
    dns_put16(at + 2, type);
    dns_put16(at + 4, DNS_CLASS_IN);
    dns_put32(at + 6, ttl);
    dns_put16(at + 10, (uint16_t)size);
    memcpy(at + FIXED_RECORD_HEAD, data, size);
    return len + FIXED_RECORD_HEAD + size;
}

static uint32_t aged(uint32_t ttl, uint32_t age)
{
    return ttl > age ? ttl - age : 0;
}

size_t dns_reply_error(const struct dns_query *query, enum dns_rcode rcode,
                       enum dns_extended_error why, uint8_t ret_bytes[static DNS_MAX_REPLY])
{
    size_t len = put_head(query, rcode, false, ret_bytes);
    return put_opt(query, rcode, why, ret_bytes, len);
}

size_t dns_reply_answer(const struct dns_query *query, const struct dns_answer *answer,
                        uint32_t age, size_t max, uint8_t ret_bytes[static DNS_MAX_REPLY])
{
    size_t len = put_head(query, answer->rcode, answer->truncated, ret_bytes);
    size_t owner = DNS_HEADER_SIZE;
    for (unsigned int i = 0; i < answer->cname_count; i++) {
        const struct dns_cname *cname = &answer->cnames[i];
        size_t next = len + FIXED_RECORD_HEAD;
        len = put_record(ret_bytes, len, owner, DNS_TYPE_CNAME, aged(cname->ttl, age),
                         cname->target.wire, cname->target.len);
        owner = next;
    }
    for (unsigned int i = 0; i < answer->address_count; i++) {
        const struct dns_address *entry = &answer->addresses[i];
        len = put_record(ret_bytes, len, owner, query->type, aged(entry->ttl, age),
                         entry->address.bytes, ip_family_bytes(entry->address.family));
    }
    dns_put16(ret_bytes + 6, (uint16_t)(answer->cname_count + answer->address_count));
    len = put_opt(query, answer->rcode, DNS_EXTENDED_NONE, ret_bytes, len);
    if (len <= max)
        return len;
    len = put_head(query, answer->rcode, true, ret_bytes);
    return put_opt(query, answer->rcode, DNS_EXTENDED_NONE, ret_bytes, len);
}
