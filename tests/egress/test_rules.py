# SPDX-License-Identifier: Apache-2.0
"""spec.egress against what a NetworkPolicy's rules mean, case by case, and names besides.

A run reaches what both the rules and the default allow: TCP 80 and 443 of public addresses."""

import json
import unittest

import policy
import ranges
from case import EgressTest
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import document, need_root
from helpers.toolcall import local_run_documents

A, B = "93.184.215.14", "93.184.215.200"  # of one /24
C, D = "1.1.1.1", "2606:4700:4700::1111"
E = "2606:4700:4700:1::1"
INSIDE = ("10.0.0.1", "169.254.169.254", "fd00:ec2::254", net.NODE_PUBLIC4)
TRIED = [(address, port) for address in (A, B, C, D, E) for port in (80, 443)]
TRIED += [(address, port) for address in INSIDE for port in (80, 443)] + [(A, 22), (C, 8080)]

EVERYWHERE = {(address, port) for address in (A, B, C, D, E) for port in (80, 443)}


def block(cidr, *holes):
    return {"ipBlock": {"cidr": cidr} | ({"except": list(holes)} if holes else {})}


def tcp(port, end=None):
    return {"protocol": "TCP", "port": port} | ({"endPort": end} if end else {})


def only(*addresses, ports=(80, 443)):
    return {(address, port) for address in addresses for port in ports}


# What is reached, of TRIED.
CASES = [
    ("no field", None, EVERYWHERE),
    ("no rule", [], set()),
    ("a rule that is empty", [{}], EVERYWHERE),
    ("to is an empty list", [{"to": []}], EVERYWHERE),
    ("ports is an empty list", [{"to": [block(f"{C}/32")], "ports": []}], only(C)),
    ("one address", [{"to": [block(f"{A}/32")]}], only(A)),
    ("one address of IPv6", [{"to": [block(f"{D}/128")]}], only(D)),
    ("a range", [{"to": [block("93.184.215.0/24")]}], only(A, B)),
    ("a range of IPv6", [{"to": [block("2606:4700:4700::/48")]}], only(D, E)),
    ("a range with a hole", [{"to": [block("93.184.215.0/24", f"{B}/32")]}], only(A)),
    ("a range with two holes", [{"to": [block("93.184.0.0/16", f"{A}/32", f"{B}/32")]}], set()),
    ("a hole of IPv6", [{"to": [block("2606:4700::/32", "2606:4700:4700:1::/64")]}], only(D)),
    ("a hole that another peer fills",
     [{"to": [block("93.184.215.0/24", f"{B}/32"), block(f"{B}/32")]}], only(A, B)),
    ("a hole that another rule fills",
     [{"to": [block("93.184.215.0/24", f"{B}/32")]},
      {"to": [block(f"{B}/32")], "ports": [tcp(443)]}], only(A) | {(B, 443)}),
    ("everything of IPv4", [{"to": [block("0.0.0.0/0")]}], only(A, B, C)),
    ("everything of IPv6", [{"to": [block("::/0")]}], only(D, E)),
    ("everything but a range", [{"to": [block("0.0.0.0/0", "93.0.0.0/8"), block("::/0")]}],
     only(C, D, E)),
    ("two peers", [{"to": [block(f"{A}/32"), block(f"{D}/128")]}], only(A, D)),
    ("two rules", [{"to": [block(f"{A}/32")]}, {"to": [block(f"{C}/32")]}], only(A, C)),
    ("one port", [{"ports": [tcp(443)]}], only(A, B, C, D, E, ports=[443])),
    ("a port without its protocol", [{"ports": [{"port": 80}]}], only(A, B, C, D, E, ports=[80])),
    ("two ports", [{"ports": [tcp(80), tcp(443)]}], EVERYWHERE),
    ("a range of ports", [{"ports": [tcp(1, 100)]}], only(A, B, C, D, E, ports=[80])),
    ("a range of ports up to one", [{"ports": [tcp(81, 443)]}], only(A, B, C, D, E, ports=[443])),
    ("a range of all ports", [{"ports": [tcp(1, 65535)]}], EVERYWHERE),
    ("a protocol without a port", [{"ports": [{"protocol": "TCP"}]}], EVERYWHERE),
    ("a protocol that is not there, and one that is",
     [{"ports": [{"protocol": "UDP", "port": 443}, tcp(80)]}], only(A, B, C, D, E, ports=[80])),
    ("a port that is not there, and one that is", [{"ports": [tcp(22), tcp(443)]}],
     only(A, B, C, D, E, ports=[443])),
    ("peers and ports of a rule hold together",
     [{"to": [block(f"{A}/32")], "ports": [tcp(80)]},
      {"to": [block(f"{C}/32")], "ports": [tcp(443)]}],
     {(A, 80), (C, 443)}),
    ("rules add up", [{"to": [block(f"{A}/32")], "ports": [tcp(80)]},
                      {"to": [block("93.184.215.0/24")], "ports": [tcp(443)]}],
     {(A, 80), (A, 443), (B, 443)}),
    ("private ranges stay closed", [{"to": [block("10.0.0.0/8")]}], set()),
    ("the metadata service stays closed",
     [{"to": [block("169.254.169.254/32"), block("fd00:ec2::254/128"), block(f"{C}/32")]}],
     only(C)),
    ("an exception reopens nothing",
     [{"to": [block("0.0.0.0/0", "8.0.0.0/8"), block("10.0.0.0/8")]}], only(A, B, C)),
    ("the node's own address stays closed", [{"to": [block(f"{net.NODE_PUBLIC4}/32")]}], set()),
]

TRY = """
import json, socket, sys
reached = []
for address, port in json.load(sys.stdin):
    try:
        with socket.create_connection((address, port), 3):
            reached.append([address, port])
    except ConnectionRefusedError:
        pass
    except OSError as error:
        reached.append([address, port, str(error)])
print(json.dumps(reached))
"""

STEPS = """
import json, socket, sys, time
def connect(address, port):
    try:
        with socket.create_connection((address, port), 3):
            return "connected"
    except OSError as error:
        return type(error).__name__
def lookup(name):
    try:
        found = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
        return sorted({entry[4][0] for entry in found})
    except OSError as error:
        return type(error).__name__
outcomes = []
for step, *args in json.load(sys.stdin):
    outcomes.append({"connect": connect, "lookup": lookup, "sleep": time.sleep}[step](*args))
print(json.dumps(outcomes))
"""

REFUSED = "ConnectionRefusedError"


def expected_by_policy(rules):
    """Of TRIED: what a NetworkPolicy allows, cut with what any run may reach."""
    return {(address, port) for address, port in TRIED
            if port in (80, 443) and address != net.NODE_PUBLIC4
            and not ranges.is_forbidden(policy.ipaddress.ip_address(address))
            and (rules is None or policy.allows(rules, address, "TCP", port))}


class TestPolicy(unittest.TestCase):
    """The table says the same as the rules of NetworkPolicy, read a second time."""

    def test_the_table(self):
        for title, rules, reached in CASES:
            with self.subTest(title):
                self.assertEqual(expected_by_policy(rules), reached)


class TestRules(unittest.TestCase):
    """All cases in one go of the command line; one test for each."""

    @classmethod
    def setUpClass(cls):
        need_root()
        cls.internet = cls.enterClassContext(net.Internet())
        documents = []
        for number, (_, rules, _) in enumerate(CASES):
            spec = {"profile": "ToolCall", "stdin": json.dumps(TRIED)}
            if rules is not None:
                spec["egress"] = rules
            documents.append(document(TRY, name=f"case-{number}", **spec))
        done = local_run_documents(cls.internet, documents)
        if not done.stdout:
            raise AssertionError(done.stderr)
        cls.objects = json.loads(done.stdout)["items"]

    def check(self, number):
        status = self.objects[number]["status"]
        self.assertEqual(status["phase"], "Succeeded", status)
        reached = {tuple(entry) for entry in json.loads(status["stdout"])}
        self.assertEqual(reached, CASES[number][2])


def add_cases():
    for number, (title, rules, _) in enumerate(CASES):
        def test(self, number=number):
            self.check(number)
        test.__doc__ = f"{title}: {json.dumps(rules)}"
        setattr(TestRules, f"test_{number:02}_{title.replace(' ', '_')}", test)


add_cases()


class TestNamesInRules(EgressTest):
    def steps(self, names, *steps, prefixes=()):
        rules = protocol.encode_egress(prefixes, names)
        return self.node.run_json(STEPS, stdin=json.dumps(steps), egress=rules)

    def setUp(self):
        self.internet.forget()

    def test_only_after_the_lookup(self):
        outcomes = self.steps(
            [("api.example.org", protocol.HTTPS)],
            ("connect", net.OTHER4, 443), ("lookup", "api.example.org"),
            ("connect", net.OTHER4, 443), ("connect", net.OTHER6, 443),
            ("connect", net.OTHER4, 80), ("connect", net.WEB4, 443))
        self.assertEqual(outcomes, [REFUSED, sorted([net.OTHER4, net.OTHER6]), "connected",
                                    "connected", REFUSED, REFUSED])
        self.assert_nothing_arrived(net.WEB4, net.WEB6)

    def test_other_names_are_not_told(self):
        outcomes = self.steps([("api.example.org", 3)], ("lookup", "www.example.com"),
                              ("lookup", "cdn.example.org"), ("lookup", "example.org"),
                              ("lookup", "x.api.example.org"))
        self.assertEqual(outcomes, ["gaierror"] * 4)
        self.assertEqual(self.internet.questions(), [])

    def test_wildcards(self):
        self.internet.address("example.org", net.OTHER4)
        outcomes = self.steps([("*.example.org", 3)], ("lookup", "cdn.example.org"),
                              ("connect", net.OTHER4, 80), ("lookup", "a.b.example.org"),
                              ("lookup", "example.org"), ("lookup", "badexample.org"))
        both = sorted([net.OTHER4, net.OTHER6])
        self.assertEqual(outcomes, [both, "connected", both, "gaierror", "gaierror"])

    def test_upper_case_is_the_same_name(self):
        outcomes = self.steps([("api.example.org", 3)], ("lookup", "API.Example.ORG"),
                              ("connect", net.OTHER4, 443))
        self.assertEqual(outcomes, [sorted([net.OTHER4, net.OTHER6]), "connected"])

    def test_names_and_addresses_add_up(self):
        outcomes = self.steps([("api.example.org", protocol.HTTPS)], ("connect", "1.1.1.1", 80),
                              ("connect", "1.1.1.1", 443), ("lookup", "api.example.org"),
                              ("connect", net.OTHER4, 443), ("connect", "8.8.8.8", 443),
                              prefixes=[("1.1.1.0/24", protocol.HTTP)])
        self.assertEqual(outcomes, ["connected", REFUSED, sorted([net.OTHER4, net.OTHER6]),
                                    "connected", REFUSED])

    def test_aliases_lead_to_what_they_name(self):
        self.internet.script("alias.example.net", "A", [{"records": [
            ["alias.example.net", "CNAME", 60, "target.cdn.example"],
            ["target.cdn.example", "A", 60, "151.101.9.9"]]}])
        self.internet.script("alias.example.net", "AAAA", [{}])
        outcomes = self.steps([("alias.example.net", 3)], ("lookup", "alias.example.net"),
                              ("connect", "151.101.9.9", 443), ("lookup", "target.cdn.example"))
        self.assertEqual(outcomes, [["151.101.9.9"], "connected", "gaierror"])

    def test_an_allowed_name_of_a_forbidden_address(self):
        outcomes = self.steps([("metadata.example.net", 3)], ("lookup", "metadata.example.net"),
                              ("connect", net.METADATA4, 80), ("connect", net.METADATA6, 80))
        self.assertEqual(outcomes, ["gaierror", REFUSED, REFUSED])
        self.assert_nothing_arrived(net.METADATA4, net.METADATA6)

    def test_an_answer_of_other_names_opens_nothing(self):
        """Records that were not asked for, in an answer that is otherwise right."""
        self.internet.script("api.example.org", "A", [{"records": [
            ["api.example.org", "A", 60, net.OTHER4], ["www.example.com", "A", 60, net.WEB4]]}])
        self.addCleanup(self.internet.address, "api.example.org", net.OTHER4, net.OTHER6)
        outcomes = self.steps([("api.example.org", 3)], ("lookup", "api.example.org"),
                              ("connect", net.WEB4, 443))
        self.assertNotIn(net.WEB4, outcomes[0])
        self.assertEqual(outcomes[1], REFUSED)

    def test_one_run_s_names_are_not_another_s(self):
        """A name that another run has looked up at the same node opens nothing here."""
        name = [("api.example.org", 3)]
        code = ("import socket, time\nsocket.getaddrinfo('api.example.org', 443)\n"
                "print('up', flush=True)\ntime.sleep(60)\n")
        with self.node.hold(code, egress=protocol.encode_egress(names=name)) as held:
            self.assertEqual(held.line(), "up")
            self.assertEqual(self.steps(name, ("connect", net.OTHER4, 443)), [REFUSED])

    def test_the_ttl(self):
        """An address is open as long as its answer holds, and not for ever."""
        self.internet.address("short.example.net", "151.101.7.7", ttl=1)
        outcomes = self.steps(
            [("short.example.net", 3)], ("lookup", "short.example.net"),
            ("connect", "151.101.7.7", 443), ("sleep", 2), ("connect", "151.101.7.7", 443),
            ("sleep", 13), ("connect", "151.101.7.7", 443), ("lookup", "short.example.net"),
            ("connect", "151.101.7.7", 443))
        found = ["151.101.7.7"]
        self.assertEqual(outcomes, [found, "connected", None, "connected", None, REFUSED, found,
                                    "connected"])

    def test_a_connection_outlives_its_name(self):
        """What was allowed when it began goes on."""
        self.internet.address("brief.example.net", "151.101.8.8", ttl=1)
        code = ("import json, socket, time\n"
                "address = socket.getaddrinfo('brief.example.net', 80, socket.AF_INET)[0][4][0]\n"
                "sock = socket.create_connection((address, 80), 3)\n"
                "time.sleep(13)\n"
                "try:\n    socket.create_connection((address, 80), 3)\n    again = 'connected'\n"
                "except OSError as error:\n    again = type(error).__name__\n"
                "sock.send(b'GET / HTTP/1.0\\r\\n\\r\\n')\nsock.settimeout(5)\n"
                "print(json.dumps([again, sock.recv(20).decode()[:12]]))\n")
        rules = protocol.encode_egress(names=[("brief.example.net", 3)])
        self.assertEqual(self.node.run_json(code, egress=rules), [REFUSED, "HTTP/1.1 200"])
