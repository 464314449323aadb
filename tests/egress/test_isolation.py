# SPDX-License-Identifier: Apache-2.0
"""Sandboxes reach neither each other nor anything of the node; the node reaches no sandbox."""

import json
import subprocess
import sys

from case import SLEEP, EgressTest, interfaces_of
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers import packets
from helpers.netns import die_with_parent

# Listens wherever it may, says so, and tells of whoever comes.
LISTEN = """
import select, socket, sys
sockets = []
for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for port in PORTS:
            sock = socket.socket(family, kind)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind((host, port))
            except PermissionError:
                continue
            if kind == socket.SOCK_STREAM:
                sock.listen()
            sockets.append(sock)
print("listening on", len(sockets), flush=True)
while True:
    for sock in select.select(sockets, [], [])[0]:
        if sock.type == socket.SOCK_STREAM:
            peer = sock.accept()[1]
        else:
            peer = sock.recvfrom(100)[1]
        print("somebody came", peer, sock.getsockname(), flush=True)
"""
PORTS = (53, 80, 443, 5353, 8080, 8443, 9090)
KINDS = [("tcp", port) for port in PORTS] + [("udp", port) for port in PORTS]


def listen(ports=PORTS):
    return f"PORTS = {tuple(ports)}\n" + LISTEN


def resolver_ports(namespace):
    """What listens in the node: {(protocol, port)}."""
    lines = namespace.run("ss", "-Hlntu").stdout.splitlines()
    return {(words[0], int(words[4].rpartition(":")[2])) for words in map(str.split, lines)}


class TestNeighbours(EgressTest):
    def test_two_sandboxes(self):
        # Below 1024 a sandbox can't listen; its kernel would answer all the same.
        with self.node.hold(listen((8080, 8443, 9090))) as held:
            self.assertEqual(held.line(), "listening on 12")
            addresses = self.addresses_of(held)
            wanted = [(kind, address, port) for address in addresses.values()
                      for kind, port in KINDS]
            found = self.probe(wanted)
            for probe in wanted:
                with self.subTest(probe=probe):
                    self.assert_refused(found, probe)
            with self.node.hold(SLEEP) as other:
                own = self.addresses_of(other)
                self.assertNotEqual(own, addresses)
                sent = [packets.ip(own[version], addresses[version], packets.TCP,
                                   packets.tcp(own[version], addresses[version], 8080))
                        for version in (4, 6)]
                sent += [packets.ip(own[4], addresses[4], packets.ICMP,
                                    packets.echo_request(own[4], addresses[4])),
                         packets.ip(own[6], addresses[6], packets.ICMPV6,
                                    packets.echo_request(own[6], addresses[6]))]
                answers = self.send(other, sent)
                self.assertLessEqual({answer.kind for answer in answers}, {"rst", "unreachable"})
            finished = held.kill()
            self.assertEqual(finished["end"], protocol.END_KILLED)

    def test_a_sandbox_has_one_address_and_sees_no_other(self):
        with self.node.hold(SLEEP) as held, self.node.hold(SLEEP) as other:
            first, second = self.addresses_of(held), self.addresses_of(other)
            self.assertEqual({len(first), len(second)}, {2})
            self.assertEqual(set(first.values()) & set(second.values()), set())
            links = {link["ifname"]: link for link in json.loads(held.run("ip", "-j", "link"))}
            self.assertEqual(set(links), {"lo", "eth0"})
            neighbours = json.loads(held.run("ip", "-j", "neigh"))
            self.assertEqual({entry["state"][0] for entry in neighbours}, {"PERMANENT"})
            routes = json.loads(held.run("ip", "-j", "route")) + json.loads(
                held.run("ip", "-j", "-6", "route"))
            self.assertEqual(len([route for route in routes if route["dst"] == "default"]), 2)

    def test_the_node_does_not_begin(self):
        """Nor does anybody through it: not a packet comes to a sandbox that asked for none."""
        connect = ("import socket, sys\n"
                   "family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET\n"
                   "for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
                   "    sock = socket.socket(family, kind)\n    sock.settimeout(0.3)\n"
                   "    try:\n        sock.connect((sys.argv[1], 8080))\n        sock.send(b'x')\n"
                   "        sock.recv(1)\n"
                   "    except OSError:\n        pass\n")
        with self.node.hold(listen((8080, 8443))) as held:
            held.line()
            before = self.received(held)
            for namespace in (self.internet.node, self.internet.world):
                for address in self.addresses_of(held).values():
                    if namespace is self.internet.world:
                        via = net.NODE6 if ":" in address else net.NODE4
                        namespace.ip(f"route add {address} via {via}\n")
                    namespace.run(sys.executable, "-c", connect, address)
            self.assertEqual(self.received(held), before)

    @staticmethod
    def received(held):
        """Packets that have come in by a sandbox's interface."""
        link, = json.loads(held.run("ip", "-j", "-s", "link", "show", "dev", "eth0"))
        return link["stats64"]["rx"]["packets"]


class TestNode(EgressTest):
    """The node's own addresses, with somebody who listens at them."""

    def setUp(self):
        used = resolver_ports(self.internet.node)
        self.ports = [port for port in PORTS if ("tcp", port) not in used]
        self.listener = subprocess.Popen(
            self.internet.node.enter(sys.executable, "-u", "-c", listen(self.ports)),
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.addCleanup(self.listener.stdout.close)
        self.addCleanup(self.listener.wait)
        self.addCleanup(self.listener.kill)
        self.assertIn("listening on", self.listener.stdout.readline())

    def visitors(self):
        """What the listener has told, up to a visit of our own."""
        knock = ("import socket\n"
                 f"socket.create_connection(('127.0.0.1', {self.ports[-1]}), 5).close()\n")
        self.internet.node.run(sys.executable, "-c", knock)
        told = []
        while not told or "127.0.0.1" not in told[-1]:
            told.append(self.listener.stdout.readline())
        return told[:-1]

    def gateways(self):
        """The gateway's addresses of every slot that there is."""
        links = json.loads(self.internet.node.run("ip", "-j", "addr").stdout)
        return [address["local"] for link in links if link["ifname"].startswith("sbr")
                for address in link["addr_info"]]

    def test_the_nodes_addresses(self):
        with self.node.hold(SLEEP):
            gateways = self.gateways()
        self.assertGreaterEqual(len(gateways), 2)
        own = [net.NODE4, net.NODE6, net.NODE_PUBLIC4, net.NODE_PUBLIC6, net.HOST4, net.HOST6]
        resolver = [port for _, port in resolver_ports(self.internet.node)]
        wanted = [(kind, address, port) for address in own for kind, port in KINDS]
        wanted += [(kind, address, port) for address in gateways + own
                   for kind, port in (("tcp", 80), ("tcp", 443), ("udp", 443),
                                      *(("tcp", port) for port in resolver),
                                      *(("udp", port) for port in resolver))]
        wanted = list(dict.fromkeys(wanted))
        found = self.probe(wanted)
        for probe in wanted:
            with self.subTest(probe=probe):
                self.assert_refused(found, probe)
        self.assertEqual(self.visitors(), [])
        self.assert_nothing_arrived_at(own)

    def assert_nothing_arrived_at(self, addresses):
        self.assert_nothing_arrived(*(set(addresses) - {net.HOST4, net.HOST6}))

    def test_an_address_that_comes_later(self):
        """The node gets a public address while a sandbox is there: it is refused at once."""
        late = "198.41.0.4"
        wanted = [("tcp", late, 80)]
        self.assertEqual(self.probe(wanted)[wanted[0]][0], "connected")
        self.internet.node.ip(f"addr add {late}/32 dev up0\n")
        self.addCleanup(self.internet.node.ip, f"addr del {late}/32 dev up0\n")
        self.assert_refused(self.probe(wanted), wanted[0])
        self.assertEqual(self.visitors(), [])

    def test_what_the_jailer_makes_in_the_node(self):
        with self.node.hold(SLEEP):
            names = interfaces_of(self.internet.node) - {"lo", "up0"}
        self.assertTrue(names)
        for name in names:
            self.assertRegex(name, r"^sbr[0-9]{1,2}-[0-9]{1,3}$")


class TestSnippet(EgressTest):
    """The other profile, on the same node: no network at all."""

    LOOKUP = """
import json, socket, time
begin = time.monotonic()
try:
    outcome = str(socket.getaddrinfo("www.example.com", 80))
except OSError as error:
    outcome = type(error).__name__
print(json.dumps([outcome, (time.monotonic() - begin) * 1000]))
"""

    def snippet(self, code):
        return self.node.run_json(code, **protocol.AS_SNIPPET, timeout_ms=20000)

    def test_a_lookup_fails_at_once(self):
        self.internet.forget()
        best = min(self.snippet(self.LOOKUP)[1] for _ in range(3))
        outcome, _ = self.snippet(self.LOOKUP)
        self.assertEqual(outcome, "gaierror")
        self.assertLess(best, 100)
        self.assertEqual(self.internet.questions(), [])

    def test_no_interface_but_a_downed_loopback(self):
        with self.node.hold(SLEEP, **protocol.AS_SNIPPET, timeout_ms=20000) as held:
            links = json.loads(held.run("ip", "-j", "link"))
            self.assertEqual([link["ifname"] for link in links], ["lo"])
            self.assertNotIn("UP", links[0]["flags"])
            for family in ("-4", "-6"):
                routes = held.run("ip", family, "route", "show", "table", "all")
                self.assertEqual(routes.strip(), "")
                self.assertEqual(held.run("ip", family, "addr").strip(), "")
