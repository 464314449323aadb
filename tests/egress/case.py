# SPDX-License-Identifier: Apache-2.0
"""What the tests of the layer share: a pretend internet, a node in it, programs that try it."""

import json
import os
import unittest

import probes
from helpers import internet as net
from helpers import packets
from helpers.local import need_root
from helpers.toolcall import Node

SEND = os.path.join(net.HERE, "packets_send.py")
SLEEP = "import time\ntime.sleep(100)\n"


def interfaces_of(namespace):
    return {link["ifname"] for link in json.loads(namespace.run("ip", "-j", "link").stdout)}


def tables_of(namespace):
    return {line.split()[2] for line in namespace.run("nft", "list", "tables").stdout.splitlines()}


class EgressTest(unittest.TestCase):
    """A class has its own internet and node; whatever the jailer has made in the node has to be
    gone with it."""

    node_options = ()

    @classmethod
    def setUpClass(cls):
        need_root()
        cls.internet = cls.enterClassContext(net.Internet())
        cls.addClassCleanup(cls.check_node_is_clean)
        cls.node = cls.enterClassContext(Node(cls.internet, *cls.node_options))

    @classmethod
    def check_node_is_clean(cls):
        left = {name for name in interfaces_of(cls.internet.node) if name not in ("lo", "up0")}
        left |= tables_of(cls.internet.node)
        if left:
            raise AssertionError(f"left behind in the node: {left}")

    @classmethod
    def probe(cls, wanted, **options):
        """{probe: (outcome, milliseconds)} as a sandbox sees them."""
        printed = cls.node.run_json(probes.PROGRAM, stdin=json.dumps(wanted), **options)
        return probes.outcomes(wanted, json.dumps(printed))

    @staticmethod
    def addresses_of(held):
        """{4: address, 6: address} of a sandbox's interface."""
        lines = held.run("python3", SEND, "eth0", "--addresses").split()
        return {6 if ":" in line else 4: line for line in lines}

    @staticmethod
    def send(held, sent, wait=0.3, pace=0.0005):
        """Sends packets by hand from a sandbox's interface; the answers that came."""
        received = held.run("python3", SEND, "eth0", str(wait), str(pace),
                            input="\n".join(packet.hex() for packet in sent))
        answers = [packets.parse(bytes.fromhex(line)) for line in received.split()]
        return [answer for answer in answers if answer]

    def assert_nothing_arrived(self, *addresses):
        """At any of the addresses; without them, nothing but what the node itself has to say."""
        arrived = {key: count for key, count in self.internet.arrived_pairs().items()
                   if key[1] in addresses or (not addresses and not is_the_links(key[1]))}
        self.assertEqual(arrived, {}, "arrived in the world")

    def assert_refused(self, found, probe, errors=("ECONNREFUSED",)):
        outcome, took = found[probe]
        self.assertIn(outcome, errors, probe)
        self.assertLessEqual(took, probes.WITHIN_MS, probe)


def is_the_links(address):
    """Neighbours, name servers and groups: what a node sends by itself."""
    return (address in (net.HOST4, net.HOST6, net.DNS4, net.DNS6)
            or address.startswith(("ff02:", "fe80:")))
