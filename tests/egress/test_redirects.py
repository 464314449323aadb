# SPDX-License-Identifier: Apache-2.0
"""Ways around the rules: a destination that is named late, hidden, or not the one it seems."""

from case import SLEEP, EgressTest
from helpers import internet as net
from helpers import packets

PUBLIC4, PUBLIC6 = "8.8.8.8", "2001:4860:4860::8888"
FORBIDDEN4, FORBIDDEN6 = net.METADATA4, net.METADATA6

FETCH = """
import errno, json, sys, time, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
results = []
for url in sys.argv[1:]:
    begin = time.monotonic()
    try:
        answer = opener.open(url, timeout=5).read().decode()
    except OSError as error:
        reason = getattr(error, "reason", error)
        answer = type(reason).__name__
        if answer != "gaierror":
            answer = errno.errorcode.get(reason.errno, answer)
    results.append([answer, (time.monotonic() - begin) * 1000])
print(json.dumps(results))
"""

LOOKUPS = """
import json, socket, sys
found = []
for name in sys.argv[1:]:
    try:
        found.append(sorted({entry[4][0] for entry in socket.getaddrinfo(name, 80)}))
    except socket.gaierror as error:
        found.append(str(error))
print(json.dumps(found))
"""

REBIND = """
import json, socket, time
seen = []
for _ in range(20):
    try:
        address = socket.getaddrinfo("rebind.example.net", 80, socket.AF_INET)[0][4][0]
    except socket.gaierror:
        address = "no address"
    try:
        with socket.create_connection((address, 80), 2):
            seen.append(address)
    except OSError as error:
        seen.append(address if address == "no address" else f"{address} refused")
    time.sleep(0.35)
print(json.dumps(seen))
"""

SOCKET_OPTIONS = """
import errno, json, socket
IP_OPTIONS, IP_FREEBIND, IP_TRANSPARENT, IPV6_FREEBIND, IPV6_TRANSPARENT = 4, 15, 19, 78, 75
route = bytes([131, 7, 4]) + socket.inet_aton("169.254.169.254") + bytes([0])
results = {}

def own(family, target):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((target, 9))
        return sock.getsockname()[0]

def attempt(name, family, options, source=None, target="8.8.8.8"):
    if source == own(family, target):
        return
    try:
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(1)
            for option in options:
                sock.setsockopt(*option)
            if source:
                sock.bind((source, 0))
            sock.connect((target, 80))
            results[name] = "connected"
    except OSError as error:
        results[name] = errno.errorcode.get(error.errno, str(error))

V4, V6, T6 = socket.AF_INET, socket.AF_INET6, "2001:4860:4860::8888"
attempt("loose source route", V4, [(0, IP_OPTIONS, route)])
attempt("strict source route", V4, [(0, IP_OPTIONS, bytes([137]) + route[1:])])
attempt("record route", V4, [(0, IP_OPTIONS, bytes([7, 7, 4, 0, 0, 0, 0, 0]))])
attempt("timestamps", V4, [(0, IP_OPTIONS, bytes([68, 8, 5, 0, 0, 0, 0, 0]))])
for source in ("10.244.1.7", "203.0.114.7", "8.8.4.4", "198.19.192.3", "127.0.0.1"):
    attempt("from " + source, V4, [], source)
    attempt("freebind to " + source, V4, [(0, IP_FREEBIND, 1)], source)
    attempt("transparent from " + source, V4, [(0, IP_TRANSPARENT, 1)], source)
for source in ("fd00:10:244:1::7", "2a02:6b8:7::7", "fd53:6272::3"):
    attempt("from " + source, V6, [], source, T6)
    attempt("freebind to " + source, V6, [(41, IPV6_FREEBIND, 1)], source, T6)
    attempt("transparent from " + source, V6, [(41, IPV6_TRANSPARENT, 1)], source, T6)
segment = bytes([0, 2, 0, 1, 0, 0, 0, 0]) + socket.inet_pton(V6, "fd00:ec2::254")
attempt("routing header", V6, [(41, 57, segment)], None, T6)
attempt("hop-by-hop", V6, [(41, 54, bytes([0, 0, 1, 4, 0, 0, 0, 0]))], None, T6)
attempt("destination options", V6, [(41, 59, bytes([0, 0, 1, 4, 0, 0, 0, 0]))], None, T6)
print(json.dumps(results))
"""


class TestNames(EgressTest):
    """Destinations that come from names and from what servers say."""

    def setUp(self):
        self.internet.forget()

    def test_an_http_redirect_to_the_metadata_service(self):
        targets = [f"http://{FORBIDDEN4}/latest/meta-data/", f"http://[{FORBIDDEN6}]/",
                   "http://10.0.0.1/", "http://127.0.0.1/", "http://[::ffff:a9fe:a9fe]/"]
        urls = [f"http://{net.WEB4}/redirect?to={target}" for target in targets]
        for url, (answer, took) in zip(urls, self.node.run_json(FETCH, args=urls), strict=True):
            self.assertEqual(answer, "ECONNREFUSED", url)
            self.assertLess(took, 500, url)
        self.assertEqual(len(self.internet.served()), len(urls))
        self.assert_nothing_arrived(FORBIDDEN4, FORBIDDEN6, "10.0.0.1")

    def test_a_name_of_the_metadata_service(self):
        (answer, took), = self.node.run_json(FETCH, args=["http://metadata.example.net/"])
        self.assertEqual(answer, "gaierror")
        self.assertLess(took, 1000)
        self.assert_nothing_arrived(FORBIDDEN4, FORBIDDEN6)

    def test_forbidden_addresses_are_not_in_answers(self):
        mixed = ["10.1.2.3", net.WEB4, FORBIDDEN4, net.WEB6, FORBIDDEN6, "64:ff9b::a9fe:a9fe",
                 "::ffff:169.254.169.254", "2002:a9fe:a9fe::1", "0.0.0.0", "127.0.0.1", "::1"]
        self.internet.address("mixed.example.net", *mixed)
        alias = [["alias.example.net", "CNAME", 60, "mixed.example.net"]]
        self.internet.script("alias.example.net", "A", [{"records": alias + [
            ["mixed.example.net", "A", 60, "192.168.1.1"],
            ["mixed.example.net", "A", 60, net.WEB4]]}])
        self.internet.script("alias.example.net", "AAAA", [{"records": alias}])
        self.internet.address("inside.example.net", "192.168.1.1", "fd00::1", net.NODE_PUBLIC4)
        found = self.node.run_json(LOOKUPS, args=["mixed.example.net", "alias.example.net",
                                                  "inside.example.net"])
        self.assertEqual(found[0], sorted([net.WEB4, net.WEB6]))
        self.assertEqual(found[1], [net.WEB4])
        # The node's own addresses are refused by the rules, whether the answer has them or not.
        self.assertNotIn("192.168.1.1", found[2])
        self.assertNotIn("fd00::1", found[2])

    def test_rebinding(self):
        public = {"records": [["rebind.example.net", "A", 0, net.WEB4]]}
        private = {"records": [["rebind.example.net", "A", 0, FORBIDDEN4]]}
        self.internet.script("rebind.example.net", "A", [public, private])
        seen = self.node.run_json(REBIND)
        self.assertEqual(seen[0], net.WEB4)
        self.assertEqual(seen[-1], "no address")
        self.assertEqual(set(seen), {net.WEB4, "no address"})
        self.assert_nothing_arrived(FORBIDDEN4)

    def test_socket_options(self):
        results = self.node.run_json(SOCKET_OPTIONS)
        harmless = ("hop-by-hop", "destination options")
        self.assertEqual({name for name, outcome in results.items()
                          if outcome == "connected" and name not in harmless}, set(), results)
        own = {net.NODE4, net.NODE6, net.NODE_PUBLIC6, "::"}
        forged = {source for source, _ in self.internet.arrived_pairs()
                  if not source.startswith("fe80:")} - own
        self.assertEqual(forged, set())
        self.assert_nothing_arrived(FORBIDDEN4, FORBIDDEN6)


class TestByHand(EgressTest):
    """Packets that no socket makes, from a sandbox's own interface."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.held = cls.enterClassContext(cls.node.hold(SLEEP))
        addresses = cls.addresses_of(cls.held)
        cls.own4, cls.own6 = addresses[4], addresses[6]

    def setUp(self):
        self.internet.forget()

    def arrived(self):
        """What arrived but for the node's own conversations."""
        own = (net.HOST4, net.HOST6, net.DNS4, net.DNS6)
        return {key: count for key, count in self.internet.arrived_pairs().items()
                if key[1] not in own and not key[1].startswith(("ff02:", "fe80:"))}

    def syn4(self, target, port, source=None, **options):
        source = source or self.own4
        return packets.ipv4(source, target, packets.TCP, packets.tcp(source, target, port),
                            **options)

    def syn6(self, target, port, *extensions, source=None):
        source = source or self.own6
        return packets.ipv6(source, target, packets.TCP, packets.tcp(source, target, port),
                            extensions)

    def test_the_sender_works(self):
        """A packet of the plain kind gets an answer, so that silence below means something."""
        answers = self.send(self.held, [self.syn4(PUBLIC4, 80), self.syn6(PUBLIC6, 443)])
        self.assertEqual({(a.source, a.kind) for a in answers if a.kind == "syn-ack"},
                         {(PUBLIC4, "syn-ack"), (PUBLIC6, "syn-ack")})

    def test_source_routes(self):
        self.send(self.held, [
            self.syn4(target, port, options=packets.source_route([hop], strict))
            for target, hop in ((PUBLIC4, FORBIDDEN4), (FORBIDDEN4, PUBLIC4),
                                (net.HOST4, FORBIDDEN4))
            for strict in (False, True) for port in (80, 443)])
        self.assertEqual(self.arrived(), {})

    def test_other_options(self):
        self.send(self.held, [
            self.syn4(PUBLIC4, 80, options=options) for options in (
                bytes([7, 7, 4]) + bytes(4), bytes([68, 12, 5, 0]) + bytes(8),
                bytes([148, 4, 0, 0]), bytes([130, 11]) + bytes(9), bytes([1, 1, 1, 1]))])
        self.assertEqual(self.arrived(), {})

    def test_routing_headers(self):
        self.send(self.held, [
            self.syn6(target, 80, packets.routing_header(kind, [hop]))
            for kind in (0, 1, 2, 3, 4, 253)
            for target, hop in ((PUBLIC6, FORBIDDEN6), (FORBIDDEN6, PUBLIC6))])
        self.assertEqual(self.arrived(), {})

    def test_extension_headers_hide_nothing(self):
        chains = [[packets.padding(packets.HOP_BY_HOP)], [packets.padding(packets.DESTINATION)],
                  [packets.padding(packets.HOP_BY_HOP), packets.padding(packets.DESTINATION)],
                  [packets.padding(packets.DESTINATION)] * 8]
        sent = []
        for chain in chains:
            sent += [self.syn6(PUBLIC6, 22, *chain), self.syn6(FORBIDDEN6, 80, *chain)]
        self.send(self.held, sent)
        self.assertEqual(self.arrived(), {})

    def fragments4(self, target, payload, identity, first=8):
        return [packets.ipv4(self.own4, target, packets.TCP, payload[:first], more=True,
                             identity=identity),
                packets.ipv4(self.own4, target, packets.TCP, payload[first:], offset=first // 8,
                             identity=identity)]

    def test_fragments(self):
        """Put together before they are judged: nothing of a refused packet arrives, in any order
        and however small its parts are."""
        sent = []
        for number, (target, port) in enumerate((
                (FORBIDDEN4, 80), (PUBLIC4, 22), (net.NODE_PUBLIC4, 80), ("10.0.0.1", 443))):
            payload = packets.tcp(self.own4, target, port, data=bytes(64))
            pieces = self.fragments4(target, payload, 100 + number)
            sent += pieces + self.fragments4(target, payload, 200 + number, 24)[::-1]
            # A first part that never comes, and a part alone.
            sent.append(packets.ipv4(self.own4, target, packets.TCP, payload[16:], offset=2,
                                     identity=300 + number))
        for number, (target, port) in enumerate(((FORBIDDEN6, 80), (PUBLIC6, 22))):
            payload = packets.tcp(self.own6, target, port, data=bytes(64))
            for offset, end in ((0, 8), (8, len(payload))):
                sent.append(packets.ipv6(self.own6, target, packets.TCP, payload[offset:end], [
                    packets.fragment_header(offset // 8, end < len(payload), 400 + number)]))
            sent.append(self.syn6(target, port, packets.fragment_header(0, False, 500 + number)))
        self.send(self.held, sent)
        self.assertEqual(self.arrived(), {})

    def test_overlapping_fragments(self):
        """The port of the first part is overwritten by a second one."""
        allowed = packets.tcp(self.own4, PUBLIC4, 80, data=bytes(64))
        refused = packets.tcp(self.own4, PUBLIC4, 22, data=bytes(64))
        self.send(self.held, [
            packets.ipv4(self.own4, PUBLIC4, packets.TCP, allowed[:24], more=True, identity=600),
            packets.ipv4(self.own4, PUBLIC4, packets.TCP, refused[:24], more=True, identity=600),
            packets.ipv4(self.own4, PUBLIC4, packets.TCP, refused[8:], offset=1, identity=600),
        ])
        self.assertNotIn((PUBLIC4, "tcp", 22), self.internet.arrived())

    def test_forged_sources(self):
        sources4 = [net.NODE4, net.NODE_PUBLIC4, net.HOST4, PUBLIC4, "127.0.0.1", "0.0.0.0",
                    "198.19.192.1", "198.19.192.0", "198.19.192.5", "255.255.255.255", "224.0.0.1"]
        sources6 = [net.NODE6, net.NODE_PUBLIC6, net.HOST6, PUBLIC6, "::1", "::", "fe80::1",
                    "fd53:6272::", "fd53:6272::5", "::ffff:8.8.8.8"]
        sources4 = [source for source in sources4 if source != self.own4]
        sources6 = [source for source in sources6 if source != self.own6]
        sent = [self.syn4("1.1.1.1", 80, source=source) for source in sources4]
        sent += [self.syn6("2606:4700::1", 80, source=source) for source in sources6]
        answers = self.send(self.held, sent)
        self.assertEqual(self.arrived(), {})
        self.assertEqual([answer for answer in answers if answer.kind != "icmp"], [])

    def test_other_protocols(self):
        numbers = (0, 2, 4, 41, 47, 50, 51, 89, 97, 103, 112, 115, 132, 136, 143, 255)
        sent = [packets.ipv4(self.own4, PUBLIC4, number, bytes(32)) for number in numbers]
        sent += [packets.ipv6(self.own6, PUBLIC6, number, bytes(32)) for number in numbers]
        inner = self.syn4(FORBIDDEN4, 80)
        sent += [packets.ipv4(self.own4, PUBLIC4, 4, inner),
                 packets.ipv6(self.own6, PUBLIC6, 4, inner)]
        self.send(self.held, sent)
        self.assertEqual(self.arrived(), {})

    def test_errors_of_ones_own_making(self):
        """ICMP messages that speak of connections that there are not, and redirects."""
        quoted = packets.ipv4(PUBLIC4, self.own4, packets.TCP, packets.tcp(PUBLIC4, self.own4, 80))
        sent = []
        for kind, code in ((3, 1), (3, 4), (5, 0), (5, 1), (9, 0), (10, 0), (11, 0), (12, 0),
                           (13, 0)):
            message = bytes([kind, code, 0, 0]) + packets.packed(FORBIDDEN4) + quoted
            total = packets.checksum(message)
            message = message[:2] + total.to_bytes(2, "big") + message[4:]
            sent.append(packets.ipv4(self.own4, PUBLIC4, packets.ICMP, message))
        self.send(self.held, sent)
        self.assertEqual(self.arrived(), {})

    def test_other_segments_than_the_first(self):
        """Packets that claim to belong to a connection that was never made."""
        sent = [packets.ipv4(self.own4, target, packets.TCP,
                             packets.tcp(self.own4, target, port, flags=flags, source_port=41000))
                for target, port in ((FORBIDDEN4, 80), (PUBLIC4, 22), ("10.0.0.1", 443))
                for flags in (packets.ACK, packets.RST, packets.SYN | packets.ACK, 0, 0x01, 0x29,
                              0x3F)]
        self.send(self.held, sent)
        self.assertEqual(self.arrived(), {})
