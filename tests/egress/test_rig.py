# SPDX-License-Identifier: Apache-2.0
"""The pretend internet itself: without our rules everything is there to be reached.

What the other tests find refused is therefore refused by the node, and by nothing else."""

import json
import sys
import unittest

import probes
import ranges
from case import SEND
from helpers import internet as net
from helpers import packets
from helpers.local import need_root

TLS = """
import json, ssl, sys, urllib.request
context = ssl.create_default_context(cadata=sys.stdin.read())
for url in sys.argv[1:]:
    print(urllib.request.urlopen(url, context=context, timeout=5).read().decode())
"""


def setUpModule():
    need_root("to make network namespaces")


class RigTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.internet = cls.enterClassContext(net.Internet())
        cls.box = cls.internet.behind()

    def run_program(self, code, *args, input=""):
        return self.box.run(sys.executable, "-c", code, *args, input=input).stdout


class TestEverythingAnswers(RigTest):
    def test_every_forbidden_network_and_its_neighbours_answer(self):
        places = [place for place in probes.places()
                  if not probes.is_own_kernels(place.address)]
        wanted = probes.probes_for([place.address for place in places])
        found = probes.outcomes(wanted, self.run_program(probes.PROGRAM, input=json.dumps(wanted)))
        wrong = {probe: outcome for probe, outcome in found.items()
                 if outcome[0] not in ("connected", "answered")}
        self.assertEqual(wrong, {})
        arrived = self.internet.arrived()
        missing = [probe for probe in wanted
                   if (probe[1], probe[0], probe[2]) not in arrived]
        self.assertEqual(missing, [])

    def test_they_answer_to_icmp(self):
        addresses = [place.address for place in probes.places()
                     if not probes.is_own_kernels(place.address)]
        own = self.box.run(sys.executable, SEND, "eth0", "--addresses").stdout.split()
        source = {4: own[0], 6: own[1]}
        # The neighbours have to be known before a packet goes out by hand.
        self.run_program(
            "import socket\n"
            "for address in ('8.8.8.8', '2606:4700::1'):\n"
            "    socket.create_connection((address, 80), 5).close()\n")
        sent = [packets.ip(source[a.version], a, packets.ICMP if a.version == 4 else packets.ICMPV6,
                           packets.echo_request(source[a.version], a)) for a in set(addresses)]
        received = self.box.run(sys.executable, SEND, "eth0", "0.5", "0.001",
                                input="\n".join(packet.hex() for packet in sent)).stdout
        answers = [packets.parse(bytes.fromhex(line)) for line in received.split()]
        # The kernel may join a group meanwhile, which is none of these.
        echoed = {answer.source for answer in answers if answer and answer.kind == "echo"}
        self.assertEqual({str(address) for address in addresses} - echoed, set())


class TestServers(RigTest):
    def test_web_and_certificate(self):
        urls = ["https://1.1.1.1/a", f"https://[{net.WEB6}]/b", f"http://{net.METADATA4}/",
                f"http://[{net.METADATA6}]/latest/meta-data/x"]
        lines = self.run_program(TLS, *urls, input=self.internet.ca).splitlines()
        self.assertEqual(json.loads(lines[0])["address"], "1.1.1.1")
        self.assertEqual(json.loads(lines[1])["address"], net.WEB6)
        self.assertEqual(json.loads(lines[2])["address"], net.METADATA4)
        self.assertEqual(lines[3], "SECRET")

    def test_the_certificate_is_not_for_everything(self):
        with self.assertRaisesRegex(RuntimeError, "CERTIFICATE_VERIFY_FAILED"):
            self.run_program(TLS, "https://8.8.8.8/", input=self.internet.ca)

    def test_the_required_networks_are_in_the_table(self):
        for prefix, why in ranges.REQUIRED.items():
            with self.subTest(prefix=prefix, why=why):
                network = ranges.ipaddress.ip_network(prefix)
                self.assertTrue(any(
                    network.version == other.version and network.subnet_of(other)
                    for other in ranges.TABLE))
