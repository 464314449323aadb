# SPDX-License-Identifier: Apache-2.0
"""Lists of destinations to try, and what came of them."""

import dataclasses
import json
import os

import ranges

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_program.py"),
          encoding="utf-8") as file:  # fmt: skip
    PROGRAM = file.read()

HTTP, HTTPS, SSH = 80, 443, 22
TCP_PORTS = (HTTP, HTTPS, SSH)
UDP_PORTS = (53, 443)
WITHIN_MS = 50

# A sandbox's own kernel has no way to these, or takes them for its own: its error stands in the
# place of ours. Nothing of it leaves, whatever the rules are.
OWN_KERNEL = {
    "127.0.0.0/8": "its own loopback",
    "224.0.0.0/4": "multicast has no route",
    "255.255.255.255/32": "broadcast needs a permission",
    "::/128": "its own loopback",
    "::1/128": "its own loopback",
    "::ffff:0:0/96": "an IPv4 address",
    "fe80::/10": "needs an interface",
    "ff00::/8": "multicast has no route",
}
OWN_KERNEL_ADDRESSES = ("0.0.0.0", "::", "::1", "255.255.255.255")
OWN_KERNEL_ERRORS = ("ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EACCES", "EINVAL",
                     "EADDRNOTAVAIL", "EPERM")  # fmt: skip


def is_own_kernels(address):
    return str(address) in OWN_KERNEL_ADDRESSES or any(
        address in ranges.ipaddress.ip_network(prefix) for prefix in OWN_KERNEL)


@dataclasses.dataclass(frozen=True)
class Place:
    """An address to try, and where it lies: first, last, only; below or above the network."""

    network: object
    side: str
    address: object

    @property
    def is_inside(self):
        return self.side in ("first", "last", "only")

    @property
    def text(self):
        return f"{self.network} {self.side} {self.address}"

    @property
    def name(self):
        return f"{self.network}_{self.side}".replace(".", "_").replace("/", "_").replace(":", "_")


def places():
    """Every forbidden network's ends, and what lies just outside."""
    return [Place(network, side, address) for network in ranges.all_networks()
            for side, address in (*ranges.ends(network), *ranges.neighbours(network))]


def probes_for(addresses):
    """[(protocol, address, port)], each once."""
    tcp = [("tcp", str(address), port) for address in addresses for port in TCP_PORTS]
    udp = [("udp", str(address), port) for address in addresses for port in UDP_PORTS]
    return list(dict.fromkeys(tcp + udp))


def outcomes(probes, printed):
    """{(protocol, address, port): (outcome, milliseconds)} of what the program printed."""
    results = json.loads(printed)
    if len(results) != len(probes):
        raise AssertionError(f"{len(results)} results of {len(probes)} probes")
    return {probe: tuple(result) for probe, result in zip(probes, results, strict=True)}
