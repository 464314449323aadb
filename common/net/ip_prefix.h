/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses and prefixes of IPv4 and IPv6 as values: no lookup, no I/O. */

enum ip_family { IP_FAMILY_4 = 4, IP_FAMILY_6 = 6 };

/* Network byte order; an IPv4 address has its 4 bytes first and zeros behind. */
struct ip_address {
    enum ip_family family;
    uint8_t bytes[16];
};

/* The bits behind length are zero. */
struct ip_prefix {
    struct ip_address address;
    uint8_t length; /* up to 32 or 128 */
};

#define IP_ADDRESS_TEXT_SIZE 46 /* INET6_ADDRSTRLEN */
#define IP_PREFIX_TEXT_SIZE  50

/* Of an address: AF_INET or AF_INET6, its size. */
int ip_family_af(enum ip_family family);
size_t ip_family_bytes(enum ip_family family);
unsigned int ip_family_bits(enum ip_family family);

/* Of exactly the usual text forms, without a scope; leading zeros in an IPv4 number are refused.
 * -EINVAL. */
int ip_address_parse(const char *text, struct ip_address *ret_address);
void ip_address_print(const struct ip_address *address, char ret_text[static IP_ADDRESS_TEXT_SIZE]);
bool ip_address_equal(const struct ip_address *a, const struct ip_address *b);

/* "ADDRESS/LENGTH"; strict refuses bits behind the length, else they are cleared. An address alone
 * is not a prefix. -EINVAL with what is wrong. */
int ip_prefix_parse(const char *text, bool strict, struct ip_prefix *ret_prefix, struct error *err);
void ip_prefix_print(const struct ip_prefix *prefix, char ret_text[static IP_PREFIX_TEXT_SIZE]);

bool ip_prefix_contains(const struct ip_prefix *prefix, const struct ip_address *address);
/* Every address of inner is in outer. */
bool ip_prefix_covers(const struct ip_prefix *outer, const struct ip_prefix *inner);
bool ip_prefix_overlaps(const struct ip_prefix *a, const struct ip_prefix *b);

/* Whether the bytes come from a well-formed prefix: family, length and the bits behind it. */
bool ip_prefix_is_valid(const struct ip_prefix *prefix);

/* prefix without the parts of it that the holes cover, as disjoint prefixes in ascending order.
 * -ENOSPC if that takes more than size of them. */
int ip_prefix_subtract(const struct ip_prefix *prefix, const struct ip_prefix *holes,
                       size_t hole_count, struct ip_prefix *ret_prefixes, size_t size,
                       size_t *ret_count);
