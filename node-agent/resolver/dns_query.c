/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/dns_query.h"

#include <string.h>

#define OPT_HEAD 11u /* the root's name and the fixed part, without options */

uint16_t dns_get16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

uint32_t dns_get32(const uint8_t *bytes)
{
    return (uint32_t)dns_get16(bytes) << 16 | dns_get16(bytes + 2);
}

void dns_put16(uint8_t *bytes, uint16_t value)
{
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

void dns_put32(uint8_t *bytes, uint32_t value)
{
    dns_put16(bytes, (uint16_t)(value >> 16));
    dns_put16(bytes + 2, (uint16_t)value);
}

static uint16_t clamp_udp_size(uint16_t size)
{
    if (size < DNS_UDP_SIZE)
        return DNS_UDP_SIZE;
    return size > DNS_EDNS_SIZE ? DNS_EDNS_SIZE : size;
}

/* Options are walked and forgotten: none is passed on. */
static bool options_are_sound(const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        if (len < 4 || dns_get16(bytes + 2) > len - 4)
            return false;
        size_t step = 4u + dns_get16(bytes + 2);
        bytes += step;
        len -= step;
    }
    return true;
}

/* The one additional record that a query may have is all that is left of the message. */
static enum dns_query_verdict parse_opt(const uint8_t *bytes, size_t len, struct dns_query *query)
{
    if (len < OPT_HEAD || bytes[0] != 0 || dns_get16(bytes + 1) != DNS_TYPE_OPT)
        return DNS_QUERY_FORMERR;
    size_t option_bytes = dns_get16(bytes + 9);
    if (option_bytes != len - OPT_HEAD || !options_are_sound(bytes + OPT_HEAD, option_bytes))
        return DNS_QUERY_FORMERR;
    query->has_edns = true;
    query->udp_size = clamp_udp_size(dns_get16(bytes + 3));
    return bytes[6] == 0 ? DNS_QUERY_OK : DNS_QUERY_BADVERS;
}

static enum dns_query_verdict parse_question(const uint8_t *bytes, size_t len, size_t *at,
                                             struct dns_query *query, uint16_t *ret_class)
{
    size_t begin = *at;
    if (dns_name_read(bytes, len, at, false, &query->name) < 0 || len - *at < 4)
        return DNS_QUERY_FORMERR;
    memcpy(query->asked, bytes + begin, query->name.len);
    query->type = dns_get16(bytes + *at);
    *ret_class = dns_get16(bytes + *at + 2);
    *at += 4;
    query->has_question = true;
    return DNS_QUERY_OK;
}

enum dns_query_verdict dns_query_parse(const uint8_t *bytes, size_t len,
                                       struct dns_query *ret_query)
{
    struct dns_query *query = ret_query;
    memset(query, 0, sizeof(*query));
    query->udp_size = DNS_UDP_SIZE;
    if (len < DNS_HEADER_SIZE)
        return DNS_QUERY_IGNORE;
    uint16_t flags = dns_get16(bytes + 2);
    if (flags & DNS_FLAG_RESPONSE)
        return DNS_QUERY_IGNORE;
    query->id = dns_get16(bytes);
    query->recursion = flags & DNS_FLAG_RECURSION;
    if (flags & DNS_FLAG_OPCODE)
        return DNS_QUERY_NOTIMP;
    uint16_t additional = dns_get16(bytes + 10);
    if (flags & (DNS_FLAG_TRUNCATED | DNS_FLAG_ZERO | DNS_FLAG_RCODE) ||
        dns_get16(bytes + 4) != 1 || dns_get32(bytes + 6) != 0 || additional > 1)
        return DNS_QUERY_FORMERR;

    size_t at = DNS_HEADER_SIZE;
    uint16_t class = 0;
    enum dns_query_verdict verdict = parse_question(bytes, len, &at, query, &class);
    if (verdict != DNS_QUERY_OK)
        return verdict;
    if (additional == 1)
        verdict = parse_opt(bytes + at, len - at, query);
    else if (at != len)
        verdict = DNS_QUERY_FORMERR;
    if (verdict == DNS_QUERY_OK && class != DNS_CLASS_IN)
        verdict = DNS_QUERY_REFUSED;
    return verdict;
}

size_t dns_query_build(const struct dns_query *query, uint16_t id,
                       uint8_t ret_bytes[static DNS_UPSTREAM_SIZE])
{
    memset(ret_bytes, 0, DNS_UPSTREAM_SIZE);
    dns_put16(ret_bytes, id);
    dns_put16(ret_bytes + 2, DNS_FLAG_RECURSION);
    dns_put16(ret_bytes + 4, 1);
    dns_put16(ret_bytes + 10, 1);
    uint8_t *at = ret_bytes + DNS_HEADER_SIZE;
    memcpy(at, query->name.wire, query->name.len);
    at += query->name.len;
    dns_put16(at, query->type);
    dns_put16(at + 2, DNS_CLASS_IN);
    at += 4;
    dns_put16(at + 1, DNS_TYPE_OPT);
    dns_put16(at + 3, DNS_EDNS_SIZE);
    return (size_t)(at + OPT_HEAD - ret_bytes);
}
