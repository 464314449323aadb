/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/ip_prefix.h"

#include "common/parse.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IPV4_BYTES   4
#define IPV6_BYTES   16
#define BITS_IN_BYTE 8

static_assert(IP_ADDRESS_TEXT_SIZE == INET6_ADDRSTRLEN, "room for the longest address");

size_t ip_family_bytes(enum ip_family family)
{
    return family == IP_FAMILY_4 ? IPV4_BYTES : IPV6_BYTES;
}

int ip_family_af(enum ip_family family)
{
    return family == IP_FAMILY_4 ? AF_INET : AF_INET6;
}

unsigned int ip_family_bits(enum ip_family family)
{
    return (unsigned int)ip_family_bytes(family) * BITS_IN_BYTE;
}

int ip_address_parse(const char *text, struct ip_address *ret_address)
{
    struct ip_address address = {.family = strchr(text, ':') ? IP_FAMILY_6 : IP_FAMILY_4};
    /* Refuses leading zeros, scopes, fewer than four numbers and other bases. */
    if (inet_pton(ip_family_af(address.family), text, address.bytes) != 1)
        return -EINVAL;
    *ret_address = address;
    return 0;
}

void ip_address_print(const struct ip_address *address, char ret_text[static IP_ADDRESS_TEXT_SIZE])
{
    if (!inet_ntop(ip_family_af(address->family), address->bytes, ret_text, IP_ADDRESS_TEXT_SIZE))
        ret_text[0] = '\0';
}

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, ip_family_bytes(a->family)) == 0;
}

static bool get_bit(const struct ip_address *address, unsigned int index)
{
    return address->bytes[index / BITS_IN_BYTE] >> (BITS_IN_BYTE - 1 - index % BITS_IN_BYTE) & 1;
}

static void set_bit(struct ip_address *address, unsigned int index)
{
    address->bytes[index / BITS_IN_BYTE] |=
        (uint8_t)(1u << (BITS_IN_BYTE - 1 - index % BITS_IN_BYTE));
}

/* address with the bits behind length cleared. */
static struct ip_address network_of(const struct ip_address *address, unsigned int length)
{
    struct ip_address network = {.family = address->family};
    size_t whole = length / BITS_IN_BYTE;
    memcpy(network.bytes, address->bytes, whole);
    if (length % BITS_IN_BYTE != 0)
        network.bytes[whole] =
            address->bytes[whole] & (uint8_t)(0xff << (BITS_IN_BYTE - length % BITS_IN_BYTE));
    return network;
}

/* 0 to max in the one way to write it. */
static int parse_length(const char *text, unsigned int max, uint8_t *ret_length)
{
    uint64_t length;
    if (text[0] == '0' && text[1] != '\0')
        return -EINVAL;
    int r = parse_u64(text, 0, max, &length);
    if (r < 0)
        return r;
    *ret_length = (uint8_t)length;
    return 0;
}

int ip_prefix_parse(const char *text, bool strict, struct ip_prefix *ret_prefix, struct error *err)
{
    char address_text[IP_ADDRESS_TEXT_SIZE];
    struct ip_prefix prefix = {0};
    size_t len = strcspn(text, "/");
    if (text[len] == '\0')
        return error_set(err, EINVAL, "\"%.64s\" has no prefix length; write it as 203.0.113.0/24",
                         text);
    if (len >= sizeof(address_text))
        return error_set(err, EINVAL, "\"%.64s\" is no address range", text);
    memcpy(address_text, text, len);
    address_text[len] = '\0';
    if (ip_address_parse(address_text, &prefix.address) < 0)
        return error_set(err, EINVAL, "\"%.64s\" is no address range: \"%.64s\" is no address",
                         text, address_text);
    unsigned int max = ip_family_bits(prefix.address.family);
    if (parse_length(text + len + 1, max, &prefix.length) < 0)
        return error_set(err, EINVAL,
                         "\"%.64s\" is no address range: its prefix length is no number from 0 to "
                         "%u",
                         text, max);
    const struct ip_prefix given = prefix;
    prefix.address = network_of(&given.address, given.length);
    if (strict && !ip_address_equal(&given.address, &prefix.address)) {
        char meant[IP_PREFIX_TEXT_SIZE];
        ip_prefix_print(&prefix, meant);
        return error_set(err, EINVAL, "%.64s has bits beyond its prefix length; write it as %s",
                         text, meant);
    }
    *ret_prefix = prefix;
    return 0;
}

void ip_prefix_print(const struct ip_prefix *prefix, char ret_text[static IP_PREFIX_TEXT_SIZE])
{
    char address[IP_ADDRESS_TEXT_SIZE];
    ip_address_print(&prefix->address, address);
    (void)snprintf(ret_text, IP_PREFIX_TEXT_SIZE, "%s/%u", address, prefix->length);
}

bool ip_prefix_contains(const struct ip_prefix *prefix, const struct ip_address *address)
{
    if (prefix->address.family != address->family)
        return false;
    struct ip_address network = network_of(address, prefix->length);
    return ip_address_equal(&network, &prefix->address);
}

bool ip_prefix_covers(const struct ip_prefix *outer, const struct ip_prefix *inner)
{
    return outer->length <= inner->length && ip_prefix_contains(outer, &inner->address);
}

bool ip_prefix_overlaps(const struct ip_prefix *a, const struct ip_prefix *b)
{
    return ip_prefix_covers(a, b) || ip_prefix_covers(b, a);
}

bool ip_prefix_is_valid(const struct ip_prefix *prefix)
{
    static const uint8_t zero[IPV6_BYTES];
    enum ip_family family = prefix->address.family;
    if ((family != IP_FAMILY_4 && family != IP_FAMILY_6) || prefix->length > ip_family_bits(family))
        return false;
    size_t bytes = ip_family_bytes(family);
    struct ip_address network = network_of(&prefix->address, prefix->length);
    return ip_address_equal(&network, &prefix->address) &&
           memcmp(prefix->address.bytes + bytes, zero, sizeof(zero) - bytes) == 0;
}

/* The prefix that follows the whole of prefix at the same length, or false at the family's end. */
static bool next_of(const struct ip_prefix *prefix, struct ip_address *ret_address)
{
    struct ip_address next = prefix->address;
    for (unsigned int bit = prefix->length; bit > 0; bit--) {
        if (!get_bit(&next, bit - 1)) {
            set_bit(&next, bit - 1);
            *ret_address = next;
            return true;
        }
        next = network_of(&next, bit - 1);
    }
    return false;
}

/* The largest prefix inside of outer that begins at address and that no hole cuts in two. */
static struct ip_prefix widest_at(const struct ip_address *address, const struct ip_prefix *outer,
                                  const struct ip_prefix *holes, size_t hole_count)
{
    struct ip_prefix piece = {.address = *address, .length = outer->length};
    struct ip_address network = network_of(address, piece.length);
    while (!ip_address_equal(&network, address))
        network = network_of(address, ++piece.length);
    for (size_t i = 0; i < hole_count; i++) {
        while (piece.length < holes[i].length && ip_prefix_contains(&piece, &holes[i].address))
            piece.length++;
    }
    return piece;
}

int ip_prefix_subtract(const struct ip_prefix *prefix, const struct ip_prefix *holes,
                       size_t hole_count, struct ip_prefix *ret_prefixes, size_t size,
                       size_t *ret_count)
{
    size_t count = 0;
    struct ip_address at = prefix->address;
    bool more = true;
    while (more && ip_prefix_contains(prefix, &at)) {
        struct ip_prefix piece = widest_at(&at, prefix, holes, hole_count);
        bool is_hole = false;
        for (size_t i = 0; i < hole_count && !is_hole; i++)
            is_hole = ip_prefix_covers(&holes[i], &piece);
        if (!is_hole && count == size)
            return -ENOSPC;
        if (!is_hole)
            ret_prefixes[count++] = piece;
        more = next_of(&piece, &at);
    }
    *ret_count = count;
    return 0;
}
