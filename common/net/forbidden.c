/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/forbidden.h"

#include "common/cleanup.h"

/*
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates), IPv4
 * Multicast Address Space Registry, Internet Protocol Version 6 Address Space (RFC 4291). The
 * ranges don't overlap, so that they can be elements of one interval set as they are.
 *
 * IPv6 is the other way round: 2000::/3 is all the global unicast space there is, and what lies
 * outside of it is refused in IANA's own blocks, whether something is made of it yet or not. Where
 * a registry excepts single addresses of a range as globally reachable (192.0.0.9, parts of
 * 2001::/23), the range is taken whole: nothing there serves HTTP.
 */
static const struct forbidden_range ranges[] = {
    {"0.0.0.0/8", "RFC 791, this network"},
    {"10.0.0.0/8", "RFC 1918, private"},
    {"100.64.0.0/10", "RFC 6598, shared by carriers; metadata service at 100.100.100.200"},
    {"127.0.0.0/8", "RFC 1122, loopback"},
    {"168.63.129.16/32", "metadata and platform services of a cloud, at a public address"},
    {"169.254.0.0/16", "RFC 3927, link-local; metadata service at 169.254.169.254"},
    {"172.16.0.0/12", "RFC 1918, private"},
    {"192.0.0.0/24", "RFC 6890, protocol assignments; metadata service at 192.0.0.192"},
    {"192.0.2.0/24", "RFC 5737, documentation"},
    {"192.88.99.0/24", "RFC 7526, 6to4 relays, deprecated"},
    {"192.168.0.0/16", "RFC 1918, private"},
    {"198.18.0.0/15", "RFC 2544, benchmarking"},
    {"198.51.100.0/24", "RFC 5737, documentation"},
    {"203.0.113.0/24", "RFC 5737, documentation"},
    {"224.0.0.0/4", "RFC 5771, multicast"},
    {"240.0.0.0/4", "RFC 1112, reserved; broadcast at 255.255.255.255"},
    {"::/8",
     "RFC 4291, reserved: unspecified, loopback, IPv4-compatible ::/96, IPv4-mapped "
     "::ffff:0:0/96, IPv4-translated ::ffff:0:0:0/96, NAT64 64:ff9b::/96 and 64:ff9b:1::/48"},
    {"100::/8", "RFC 4291, reserved: discard-only 100::/64, dummy 100:0:0:1::/64"},
    {"200::/7", "RFC 4291, reserved"},
    {"400::/6", "RFC 4291, reserved"},
    {"800::/5", "RFC 4291, reserved"},
    {"1000::/4", "RFC 4291, reserved"},
    {"2001::/23", "RFC 2928, protocol assignments: Teredo 2001::/32, benchmarking 2001:2::/48, "
                  "ORCHID 2001:10::/28 and 2001:20::/28"},
    {"2001:db8::/32", "RFC 3849, documentation"},
    {"2002::/16", "RFC 3056, 6to4, carries an IPv4 address"},
    {"3fff::/20", "RFC 9637, documentation"},
    {"4000::/3", "RFC 4291, reserved: segment routing 5f00::/16"},
    {"6000::/3", "RFC 4291, reserved"},
    {"8000::/3", "RFC 4291, reserved"},
    {"a000::/3", "RFC 4291, reserved"},
    {"c000::/3", "RFC 4291, reserved"},
    {"e000::/4", "RFC 4291, reserved"},
    {"f000::/5", "RFC 4291, reserved"},
    {"f800::/6", "RFC 4291, reserved"},
    {"fc00::/7", "RFC 4193, unique local; metadata service at fd00:ec2::254"},
    {"fe00::/9", "RFC 4291, reserved"},
    {"fe80::/10", "RFC 4291, link-local"},
    {"fec0::/10", "RFC 3879, site-local, deprecated"},
    {"ff00::/8", "RFC 4291, multicast"},
};

const struct forbidden_range *forbidden_range(size_t index)
{
    return index < ARRAY_SIZE(ranges) ? &ranges[index] : NULL;
}

const struct forbidden_range *forbidden_find(const struct ip_address *address)
{
    for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
        struct ip_prefix prefix;
        /* A range that can't be read would let all of itself through: refuse everything. */
        if (ip_prefix_parse(ranges[i].prefix, true, &prefix, NULL) < 0 ||
            ip_prefix_contains(&prefix, address))
            return &ranges[i];
    }
    return NULL;
}

bool forbidden_with(const struct ip_address *address, const struct ip_prefix *more, size_t count)
{
    bool found = forbidden_find(address) != NULL;
    for (size_t i = 0; i < count && !found; i++)
        found = ip_prefix_contains(&more[i], address);
    return found;
}
