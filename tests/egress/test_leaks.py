# SPDX-License-Identifier: Apache-2.0
"""Slots don't leak: runs that are killed at random stages leave the node as it was."""

import contextlib
import json
import os
import random
import time
import unittest

import census
from case import EgressTest, interfaces_of, tables_of
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import FULL, need_root
from helpers.toolcall import Node

RUNS = 5000 if FULL else 100
RESTARTS = 20 if FULL else 3
SETTLE_SECONDS = 30
# A namespace stays for the sockets that were closed when nobody could hear it any more: the kernel
# tells the other side eight times, for 51 s in all (tcp_orphan_retries in ip-sysctl.rst).
RELEASED_SECONDS = 90

# Connections that are open, half open and refused, lookups that wait, and then whatever comes.
BUSY = """
import socket, sys, threading, time
print("up", flush=True)
for address, port in (("8.8.8.8", 80), ("2606:4700::1111", 443), ("10.0.0.1", 80), ("8.8.8.8", 22)):
    try:
        sock = socket.create_connection((address, port), 2)
        sock.send(b"GET / HTTP/1.0\\r\\n")
        globals()[f"kept{address}"] = sock
    except OSError:
        pass
print("connected", flush=True)
threading.Thread(target=lambda: socket.getaddrinfo("silent.example.net", 80), daemon=True).start()
try:
    socket.getaddrinfo("www.example.com", 80)
except OSError:
    pass
print("looked up", flush=True)
time.sleep(float(sys.argv[1]))
"""

STAGES = ("at once", "created", "started", "in the request", "up", "connected", "looked up",
          "deadline", "its own end", "later")


class Killer:
    """One run after the other, each ended at a stage that chance has chosen."""

    def __init__(self, node, seed):
        self.node = node
        self.connection = node.jailer.connection
        self.random = random.Random(seed)
        self.ends = {}

    def await_line(self, fd, wanted):
        os.set_blocking(fd, True)
        said = b""
        while wanted.encode() not in said:
            part = os.read(fd, 4096)
            if not part:
                return
            said += part

    def egress(self):
        """None, addresses, names: what a slot's sets are filled with."""
        return self.random.choice((b"", protocol.encode_egress([("8.8.8.0/24", 3)]),
                                   protocol.encode_egress([], [("www.example.com", 3)]),
                                   protocol.encode_egress([("2606:4700::/32", 2)],
                                                          [("*.example.com", 1)])))

    def run(self):
        stage = self.random.choice(STAGES)
        sandbox = self.connection.create(**protocol.AS_TOOL_CALL, egress=self.egress())
        if stage == "at once":
            self.connection.send(protocol.KILL, id=sandbox)
        kind, fields, fds = self.connection.receive_about(sandbox, 30)
        try:
            if kind == protocol.CREATED:
                self.go_on(sandbox, stage, fds)
                kind, fields, _ = self.connection.receive_about(sandbox, 30)
        finally:
            for fd in fds:
                if fd >= 0:
                    os.close(fd)
        word = protocol.NAMES[kind] + (f" {fields['end']}" if kind == protocol.FINISHED else "")
        self.ends[stage, word] = self.ends.get((stage, word), 0) + 1

    def go_on(self, sandbox, stage, fds):
        if stage != "created":
            timeout_ms = 300 if stage == "deadline" else 60000
            if stage != "at once":
                self.connection.send(protocol.START, id=sandbox, timeout_ms=timeout_ms)
        if stage not in ("at once", "created", "started"):
            lasts = "0" if stage == "its own end" else "60"
            request = protocol.encode_request(BUSY, args=[lasts])
            if stage == "in the request":
                request = request[:self.random.randrange(len(request))]
            with contextlib.suppress(BrokenPipeError):
                os.write(fds[0], request)
            if stage != "in the request":
                os.close(fds[0])  # the program starts at the end of its request
                fds[0] = -1
            if stage in ("up", "connected", "looked up"):
                self.await_line(fds[1], stage)
            elif stage == "later":
                time.sleep(self.random.random() * 0.1)
        if stage not in ("at once", "deadline", "its own end"):
            self.connection.send(protocol.KILL, id=sandbox)


class TestRuns(EgressTest):
    node_options = ("--slots", "8")

    def wait_until_quiet(self):
        """Until nothing has changed for two seconds: slots are made and unmade behind a run."""
        until = time.monotonic() + SETTLE_SECONDS
        last = census.take(self.node)
        while time.monotonic() < until:
            time.sleep(2)
            now = census.take(self.node)
            if now == last and now["sandboxes"] == 0 and now["connections"] == 0:
                return
            last = now
        self.fail(f"it does not come to rest: {last}")

    def settle(self, before):
        """The differences that stay."""
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            now = census.take(self.node)
            changed = {name: (before.get(name, 0), now.get(name, 0))
                       for name in before.keys() | now.keys()
                       if before.get(name, 0) != now.get(name, 0)}
            if not changed or time.monotonic() > until:
                return changed
            time.sleep(0.2)

    def test_killed_at_random_stages(self):
        self.internet.script("silent.example.net", "A", [{"delay": "never"}])
        self.internet.script("silent.example.net", "AAAA", [{"delay": "never"}])
        killer = Killer(self.node, 1)
        for _ in range(3 * len(STAGES)):  # so that what is made once is there
            killer.run()
        self.wait_until_quiet()
        before, unheld = census.take(self.node), census.unheld_namespaces()
        killer.ends.clear()
        for _ in range(RUNS):
            killer.run()
        self.assertEqual(sum(killer.ends.values()), RUNS)
        self.assertEqual({word for _, word in killer.ends} & {"REFUSED"}, set(), killer.ends)
        self.assertEqual(self.settle(before), {})
        until = time.monotonic() + RELEASED_SECONDS
        while census.unheld_namespaces() > unheld + 2 and time.monotonic() < until:
            time.sleep(0.5)
        self.assertLessEqual(census.unheld_namespaces(), unheld + 2)


class TestJailers(unittest.TestCase):
    """The jailer itself is killed with runs in it: the next one sweeps."""

    @classmethod
    def setUpClass(cls):
        need_root()
        cls.internet = cls.enterClassContext(net.Internet())

    def slots(self):
        """Interfaces of slots, by the number that is never used again."""
        links = json.loads(self.internet.node.run("ip", "-j", "link").stdout)
        return {link["ifindex"] for link in links if link["ifname"].startswith("sbr")}

    def wait_until_gone(self, left):
        until = time.monotonic() + 5
        while self.slots() & left:
            self.assertLess(time.monotonic(), until, "what a killed jailer left is still there")
            time.sleep(0.05)

    def test_a_killed_jailer(self):
        left = set()
        for number in range(RESTARTS):
            node = Node(self.internet, "--slots", "4")
            with node:
                self.wait_until_gone(left)
                killer = Killer(node, number)
                for _ in range(5):
                    killer.run()
                held = [node.hold(BUSY, args=["60"]) for _ in range(2)]
                held[0].line()
                left = self.slots()
                self.assertGreaterEqual(len(left), 2)
                node.jailer.process.kill()
                node.jailer.process.wait()
            for one in held:
                one.output.close()
                one.errors.close()
        with Node(self.internet):
            pass
        self.assertEqual(interfaces_of(self.internet.node), {"lo", "up0"})
        self.assertEqual(tables_of(self.internet.node), set())
