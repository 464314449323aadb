# SPDX-License-Identifier: Apache-2.0
"""The networks that no sandbox may reach: what the program has in its table, and what it must have.

REQUIRED is written down here a second time, from the registries and from what the clouds publish
of their metadata services, so that a range that gets lost in the table is missed here.
"""

import ipaddress
import subprocess

from helpers.local import program

REQUIRED = {
    # IANA IPv4 Special-Purpose Address Registry, not globally reachable
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared address space",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "255.255.255.255/32": "broadcast",
    # metadata and platform services
    "100.100.100.200/32": "metadata",
    "168.63.129.16/32": "metadata",
    "169.254.169.254/32": "metadata",
    "169.254.170.2/32": "metadata",
    "192.0.0.192/32": "metadata",
    "fd00:ec2::254/128": "metadata",
    "fd20:ce::254/128": "metadata",
    # IANA IPv6 Special-Purpose Address Registry, and what carries an IPv4 address
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::/96": "IPv4-compatible",
    "::ffff:0:0/96": "IPv4-mapped",
    "64:ff9b::/96": "NAT64",
    "64:ff9b:1::/48": "NAT64, local",
    "100::/64": "discard",
    "100:0:0:1::/64": "dummy",
    "2001::/23": "protocol assignments",
    "2001::/32": "Teredo",
    "2001:2::/48": "benchmarking",
    "2001:10::/28": "ORCHID",
    "2001:20::/28": "ORCHIDv2",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "3fff::/20": "documentation",
    "5f00::/16": "segment routing",
    "fc00::/7": "unique local",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}


def table():
    """{network: why} as the program prints it."""
    printed = subprocess.run([program("forbidden_list")], capture_output=True, text=True,
                             check=True, timeout=10).stdout
    lines = [line.partition("\t") for line in printed.splitlines()]
    return {ipaddress.ip_network(prefix): why for prefix, _, why in lines}


TABLE = table()


def is_forbidden(address):
    return any(address in network for network in TABLE)


def all_networks():
    """{network: why}, of both lists, in order."""
    networks = {ipaddress.ip_network(prefix): why for prefix, why in REQUIRED.items()} | TABLE
    return dict(sorted(networks.items(), key=lambda item: (item[0].version, item[0])))


def ends(network):
    """[(side, address)] inside: one if the network has no more."""
    first, last = network[0], network[-1]
    return [("only", first)] if first == last else [("first", first), ("last", last)]


def neighbours(network):
    """[(side, address)] just outside, as far as it isn't forbidden for another reason."""
    found = []
    for side, edge, step in (("below", network[0], -1), ("above", network[-1], 1)):
        value = int(edge) + step
        if 0 <= value < 1 << network.max_prefixlen:
            address = type(edge)(value)
            if not is_forbidden(address):
                found.append((side, address))
    return found


def disguises(address):
    """[(form, IPv6 address)] of an IPv4 address."""
    value = int(address)

    def make(high, shift):
        return ipaddress.IPv6Address(int(ipaddress.IPv6Address(high)) | value << shift)

    teredo = int(ipaddress.IPv6Address("2001:0:4136:e378::")) | (~value & 0xFFFFFFFF)
    return [
        ("IPv4-mapped", make("::ffff:0:0", 0)),
        ("IPv4-compatible", make("::", 0)),
        ("IPv4-translated", make("::ffff:0:0:0", 0)),
        ("NAT64", make("64:ff9b::", 0)),
        ("NAT64 local", make("64:ff9b:1::", 0)),
        ("6to4", make("2002::", 80)),
        ("Teredo", ipaddress.IPv6Address(teredo)),
    ]
