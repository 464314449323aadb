/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/net/ip_prefix.h"

#include <stddef.h>

/*
 * Where no sandbox may ever connect to, whatever a run's rules say: the special-purpose registries
 * of IANA as far as they aren't globally reachable, private and link-local ranges, multicast, the
 * metadata addresses of the clouds, and every IPv6 form that carries such an IPv4 address. What a
 * node or a cluster adds (its own addresses, Pod, Service and node ranges) is the caller's.
 */
struct forbidden_range {
    const char *prefix; /* text, as the nftables set has it */
    const char *why;    /* "RFC 1918, private" */
};

/* The index-th range, ordered by family and address; NULL behind the last. No two overlap. The
 * IPv6 ranges of NAT64, 6to4 and the like are in it whole, with all that lies outside of the global
 * unicast space, 2000::/3: no sandbox needs them. */
const struct forbidden_range *forbidden_range(size_t index);

/* The range that address is in, or NULL. */
const struct forbidden_range *forbidden_find(const struct ip_address *address);

/* Whether it is in one, or in one of the caller's prefixes. */
bool forbidden_with(const struct ip_address *address, const struct ip_prefix *more, size_t count);
