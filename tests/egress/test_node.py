# SPDX-License-Identifier: Apache-2.0
"""What an operator sets of a node's network, and what a node does that can't have one."""

import subprocess
import unittest

from case import SLEEP, EgressTest
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import RUNTIMES, need_root, program
from helpers.toolcall import PARENT, UID_BASE, Node

LOOKUP = """
import json, socket
try:
    print(json.dumps(sorted({entry[4][0] for entry in socket.getaddrinfo("both.example.net", 80)})))
except OSError as error:
    print(json.dumps(type(error).__name__))
"""


class TestForbid(EgressTest):
    """--forbid: what a cluster adds of its own."""

    node_options = ("--forbid", "8.8.8.0/24", "--forbid", "2606:4700::/32")

    def test_it_is_refused(self):
        wanted = [("tcp", address, port) for address in ("8.8.8.0", "8.8.8.255", "2606:4700::",
                                                         "2606:4700:ffff::1") for port in (80, 443)]
        outside = [("tcp", address, 80) for address in ("8.8.7.255", "8.8.9.0", "2606:46ff::1",
                                                        "2606:4701::")]
        found = self.probe(wanted + outside)
        for probe in wanted:
            self.assert_refused(found, probe)
        self.assertEqual({found[probe][0] for probe in outside}, {"connected"})
        self.assert_nothing_arrived(*(address for _, address, _ in wanted))

    def test_rules_reopen_nothing(self):
        rules = protocol.encode_egress([("8.8.8.8/32", 3), ("8.8.4.4/32", 3)])
        found = self.probe([("tcp", "8.8.8.8", 80), ("tcp", "8.8.4.4", 80)], egress=rules)
        self.assert_refused(found, ("tcp", "8.8.8.8", 80))
        self.assertEqual(found["tcp", "8.8.4.4", 80][0], "connected")

    def test_names_lead_nowhere_else(self):
        self.internet.address("both.example.net", "8.8.8.8", "8.8.4.4", "2606:4700::1111")
        self.assertEqual(self.node.run_json(LOOKUP), ["8.8.4.4"])


class TestRanges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_root()
        cls.internet = cls.enterClassContext(net.Internet())

    def test_another_range(self):
        ranges = ("--slot-range", "198.18.64.0/20", "--slot-range6", "fd77::/112")
        with Node(self.internet, *ranges) as node, node.hold(SLEEP) as held:
            first, second = EgressTest.addresses_of(held).values()
            self.assertTrue(first.startswith("198.18."), first)
            self.assertTrue(second.startswith("fd77::"), second)

    def overlap(self, option, value, named):
        """The jailer says which, at the start or to the run that asks for it."""
        try:
            with Node(self.internet, option, value):
                pass
        except (AssertionError, RuntimeError) as error:
            self.assertIn(named, str(error))
        else:
            self.fail(f"{option} {value} was accepted")

    def test_a_range_that_overlaps_the_nodes_routes(self):
        self.overlap("--slot-range", "10.244.0.0/18", "10.244.1.0/24")
        self.overlap("--slot-range6", "fd00:10:244:1::/112", "fd00:10:244:1::/64")

    def test_a_range_that_is_none(self):
        for option, value in (("--slot-range", "10.0.0.0/30"), ("--slot-range", "10.0.0.1/18"),
                              ("--slot-range", "fd77::/112"), ("--slot-range6", "fd77::/64"),
                              ("--slot-range6", "10.0.0.0/18"), ("--forbid", "10.0.0.1"),
                              ("--forbid", "10.0.0.1/8"), ("--slots", "1000")):
            with self.subTest(option=option, value=value):
                done = subprocess.run(
                    self.internet.node.enter(
                        program("sandboxrun-jailer"), "--runtimes-dir", RUNTIMES, "--socket",
                        "/nowhere/jailer.sock", "--peer-uid", "1", option, value),
                    capture_output=True, text=True, timeout=20)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(option, done.stderr)


class TestResolverGone(EgressTest):
    def test_runs_are_refused(self):
        """Fail closed, and say why; Snippet goes on."""
        self.assertTrue(self.node.run("pass").created)
        self.node.end_resolver()
        for _ in range(50):
            result = self.node.run("pass")
            if not result.created:
                break
        self.assertFalse(result.created)
        self.assertEqual(result.refused["lock"], "network")
        self.assertIn("resolver", result.refused["text"])
        snippet = self.node.run("print(1)", **protocol.AS_SNIPPET, timeout_ms=20000)
        self.assertEqual(snippet.stdout, b"1\n")


class TestWithoutResolver(unittest.TestCase):
    def test_tool_call_is_refused(self):
        need_root()
        internet = self.enterContext(net.Internet())
        command = internet.node.enter()
        with protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, "--cgroup-parent", PARENT,
                             "--uid-base", UID_BASE, wrapper=command) as jailer:
            result = jailer.run("pass", **protocol.AS_TOOL_CALL)
            self.assertFalse(result.created)
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
