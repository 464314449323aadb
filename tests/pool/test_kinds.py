# SPDX-License-Identifier: Apache-2.0
"""That a test which is run for a kind of sandbox gets no other: the gate before the jailers of tests,
and the relay behind the command line, with an agent and a jailer that are played."""

import contextlib
import os
import pathlib
import socket
import tempfile
import threading
import unittest

from helpers import jailer_protocol as protocol
from helpers import kinds, kinds_relay

RUNTIME = "python3.12"
HELLO = protocol.encode(protocol.HELLO, version=1, runtime_count=1,
                        runtimes=RUNTIME.encode().ljust(64, b"\0"))


def tests_for(name):
    """As of_tests() has it, with nothing else changed."""
    directory = tempfile.TemporaryDirectory(prefix="sandboxrun-kind-")
    for file in ("runs", "broken"):
        pathlib.Path(directory.name, file).touch()
    return kinds.Tests(kinds.KINDS[name], directory.name), directory


def create(sandbox="a", profile=protocol.SNIPPET, runtime=RUNTIME):
    return {"id": sandbox, "profile": profile, "runtime": runtime}


def pool(waiting, size=2):
    return {"runtime": RUNTIME, "waiting": waiting, "size": size}


class TestGate(unittest.TestCase):
    def setUp(self):
        self.tests, directory = tests_for("fresh")
        self.addCleanup(directory.cleanup)
        self.gate = kinds.Gate(self.tests)
        self.gate.hear("HELLO", {"runtimes": [(RUNTIME, "3.12")]})

    def test_a_run_is_asked_for_when_one_waits_for_it(self):
        for waiting, may in ((0, False), (1, False), (2, True), (1, True), (0, False)):
            self.gate.hear("POOL", pool(waiting))  # it must have been full once
            self.assertEqual(self.gate.may_ask(create()), may, waiting)

    def test_what_has_no_pool_is_not_held_up(self):
        self.assertTrue(self.gate.may_ask(create(profile=protocol.TOOL_CALL)))
        self.assertTrue(self.gate.may_ask(create(runtime="none")))

    def test_each_that_waits_is_for_one_run(self):
        self.gate.hear("POOL", pool(2))
        for sandbox in "ab":
            self.assertTrue(self.gate.may_ask(create()))
            self.gate.ask(create(sandbox))
        self.assertFalse(self.gate.may_ask(create()))
        # What has no answer yet may still be taken from the figure; what has one is not in it.
        self.gate.hear("CREATED", {"id": "a", "warm": 1})
        self.gate.hear("POOL", pool(1))
        self.assertFalse(self.gate.may_ask(create()))
        self.gate.hear("REFUSED", {"id": "b"})
        self.assertTrue(self.gate.may_ask(create()))
        self.assertEqual(self.tests.runs(), 1)

    def test_another_kind_is_an_error(self):
        self.gate.hear("POOL", pool(2))
        for warm in (kinds.KINDS["cold"].warm, kinds.KINDS["forked"].warm):
            self.gate.ask(create())
            with self.assertRaises(kinds.WrongKind):
                self.gate.hear("CREATED", {"id": "a", "warm": warm})
        self.assertEqual(self.tests.runs(), 0)


class TestRelay(unittest.TestCase):
    def setUp(self):
        self.tests, directory = tests_for("fresh")
        self.addCleanup(directory.cleanup)
        self.agent, to_agent = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.jailer, to_jailer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        relay = kinds_relay.Relay(to_agent, to_jailer, self.tests)
        thread = threading.Thread(target=relay.run)
        thread.start()
        for sock in (to_jailer, to_agent):
            self.addCleanup(sock.close)
        self.addCleanup(thread.join, 10)
        for sock in (self.agent, self.jailer):
            self.addCleanup(sock.close)
            sock.settimeout(10)
        self.jailer.send(HELLO)
        self.assertEqual(self.hear(self.agent), (protocol.HELLO, None))

    def hear(self, sock):
        data, fds, _, _ = socket.recv_fds(sock, 1 << 16, 8)
        for fd in fds:
            os.close(fd)
        kind, fields = protocol.decode(data)
        return kind, fields.get("id")

    def say(self, sock, kind, **fields):
        sock.send(protocol.encode(kind, **fields))

    def ask(self, sandbox):
        self.say(self.agent, protocol.CREATE, id=sandbox, runtime=RUNTIME, profile=protocol.SNIPPET)

    def tell_pool(self, waiting):
        self.say(self.jailer, protocol.POOL, runtime=RUNTIME, waiting=waiting, size=1)
        self.assertEqual(self.hear(self.agent)[0], protocol.POOL)

    def test_a_run_waits_for_a_sandbox_and_what_is_said_of_it_keeps_its_order(self):
        self.ask("a")
        self.say(self.agent, protocol.KILL, id="a")
        self.say(self.agent, protocol.KILL, id="other")
        self.assertEqual(self.hear(self.jailer), (protocol.KILL, "other"))
        self.tell_pool(1)
        self.assertEqual(self.hear(self.jailer), (protocol.CREATE, "a"))
        self.assertEqual(self.hear(self.jailer), (protocol.KILL, "a"))

    def test_the_right_kind_is_passed_on_with_its_descriptors(self):
        self.tell_pool(1)
        self.ask("a")
        self.hear(self.jailer)
        read_end, write_end = os.pipe()
        socket.send_fds(self.jailer, [protocol.encode(protocol.CREATED, id="a", warm=1)], [read_end])
        os.close(read_end)
        _, fds, _, _ = socket.recv_fds(self.agent, 1 << 16, 8)
        os.write(write_end, b"x")
        os.close(write_end)
        self.assertEqual([os.read(fd, 2) for fd in fds], [b"x"])
        for fd in fds:
            os.close(fd)
        self.assertEqual(self.tests.runs(), 1)

    def test_another_kind_is_refused_and_ended(self):
        self.tell_pool(1)
        self.ask("a")
        self.hear(self.jailer)
        self.say(self.jailer, protocol.CREATED, id="a", warm=0)
        self.assertEqual(self.hear(self.agent), (protocol.REFUSED, "a"))
        self.assertEqual(self.hear(self.jailer), (protocol.KILL, "a"))
        # Its last word is for nobody.
        self.say(self.jailer, protocol.FINISHED, id="a", end=protocol.END_KILLED)
        self.tell_pool(0)
        self.assertEqual(self.tests.runs(), 0)

    def test_whoever_ends_is_told_to_the_other(self):
        self.agent.close()
        with contextlib.suppress(ConnectionResetError):
            self.assertEqual(self.jailer.recv(1), b"")


if __name__ == "__main__":
    unittest.main()
