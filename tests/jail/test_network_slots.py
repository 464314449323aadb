# SPDX-License-Identifier: Apache-2.0
"""Network slots of ToolCall sandboxes as the jailer makes, gives and takes them: in a namespace
that stands for the node, with a resolver that the test plays. What may be reached is tests/egress.
"""

import errno
import json
import os
import random
import re
import signal
import statistics
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers import slots
from helpers.deny_asked import denying_asked
from helpers.jailer_process import children_of
from helpers.local import need_root
from helpers.slots import PUBLIC4, PUBLIC6, Jailer, World

EPERM, EACCES, ESTALE = 1, 13, 116
TCP, UDP = 6, 17

# What each way out does: prints a JSON object of "address port" to an answer or an error's name.
PROBE = """
import json, socket, sys
found = {}
for target in sys.argv[1:]:
    address, port = target.rsplit(" ", 1)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.settimeout(5)
        try:
            probe.connect((address, int(port)))
            found[target] = probe.recv(64).decode()
        except OSError as error:
            found[target] = type(error).__name__
print(json.dumps(found))
"""

SLEEP = "import time\nprint('here', flush=True)\ntime.sleep(60)"


def setUpModule():
    need_root()


def probe(jailer, *targets, egress=b"", code=PROBE):
    """(what came of each, the last word)"""
    result = jailer.tool_call(code, args=targets, egress=egress)
    if not result.finished or result.exit_code != 0:
        raise AssertionError(f"{result.refused or result.finished} {result.stderr.decode()}")
    return json.loads(result.stdout), result.finished


def create(jailer, **options):
    options = {"profile": protocol.TOOL_CALL, "memory": 64 << 20, "cpu": 100} | options
    return jailer.connection.create(**options)


def start(jailer, sandbox, fds, code=SLEEP, timeout_ms=60000):
    jailer.connection.send(protocol.START, id=sandbox, timeout_ms=timeout_ms)
    with open(fds[0], "wb") as request:
        request.write(protocol.encode_request(code))
    slots.readable(fds[1], 10)


def close_all(fds):
    for fd in fds:
        os.close(fd)


def settle(world, before, within=10):
    """The kernel removes interfaces of dead namespaces by and by; what stays after that."""
    until = time.monotonic() + within
    while True:
        now = world.census()
        left = {kind: now[kind] - before[kind] for kind in now}
        if not any(left.values()) or time.monotonic() > until:
            return {kind: found for kind, found in left.items() if found}
        time.sleep(0.05)


def settle_elements(world, within=5):
    """What is still in the sets once the helper has had the time to clean up."""
    until = time.monotonic() + within
    while (left := world.elements()) and time.monotonic() < until:
        time.sleep(0.02)
    return left


class WorldCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = cls.enterClassContext(World())


class TestARun(WorldCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jailer = cls.enterClassContext(Jailer(cls.world))

    def test_offered(self):
        self.assertEqual(self.jailer.hello["profiles"], 3)

    def test_public_http_and_nothing_else(self):
        targets = [f"{PUBLIC4} 80", f"{PUBLIC4} 443", f"{PUBLIC6} 80", f"{PUBLIC4} 22",
                   f"{PUBLIC6} 8080", "10.0.0.1 80", "169.254.169.254 80", f"{slots.NODE4} 80"]
        found, finished = probe(self.jailer, *targets)
        self.assertEqual(list(found.values()),
                         [slots.NODE4, slots.NODE4, slots.NODE6] + ["ConnectionRefusedError"] * 5)
        self.assertEqual(sorted(finished["denied_network"]), sorted([
            (PUBLIC4, TCP, 22, 1), (PUBLIC6, TCP, 8080, 1), ("10.0.0.1", TCP, 80, 1),
            ("169.254.169.254", TCP, 80, 1), (slots.NODE4, TCP, 80, 1)]))  # fmt: skip
        self.assertEqual(finished["denied_network_more"], 0)

    def test_rules_narrow(self):
        rules = protocol.encode_egress([("8.8.0.0/16", protocol.HTTPS), ("8.8.8.0/24", 2),
                                        ("10.0.0.0/8", 3), ("::/0", protocol.HTTP)])
        found, _ = probe(self.jailer, f"{PUBLIC4} 443", f"{PUBLIC6} 80", f"{PUBLIC4} 80",
                         f"{PUBLIC6} 443", "10.0.0.1 80", egress=rules)
        self.assertEqual(list(found.values()),
                         [slots.NODE4, slots.NODE6] + ["ConnectionRefusedError"] * 3)

    def test_rules_that_allow_nothing(self):
        found, _ = probe(self.jailer, f"{PUBLIC4} 80", f"{PUBLIC6} 443",
                         egress=protocol.encode_egress())
        self.assertEqual(set(found.values()), {"ConnectionRefusedError"})

    def test_the_most_rules(self):
        rules = protocol.encode_egress([(f"20.{i}.0.0/16", 3) for i in range(63)]
                                       + [("8.8.8.8/32", 3)])
        found, _ = probe(self.jailer, f"{PUBLIC4} 80", egress=rules)
        self.assertEqual(list(found.values()), [slots.NODE4])

    def test_nothing_of_it_is_the_sandboxs(self):
        code = """
import fcntl, json, os, socket, struct
out = {"resolv": open("/etc/resolv.conf").read(), "tmp": os.listdir("/tmp")}
def errno_of(call):
    try:
        call()
        return 0
    except OSError as error:
        return error.errno
out["write"] = errno_of(lambda: open("/etc/resolv.conf", "w"))
out["unlink"] = errno_of(lambda: os.unlink("/etc/resolv.conf"))
raw = lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
out["raw"] = errno_of(raw)
out["netlink"] = errno_of(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
request = struct.pack("16sH", b"eth0", 0)
out["down"] = errno_of(lambda: fcntl.ioctl(s, 0x8914, request))
print(json.dumps(out))
"""
        out, _ = probe(self.jailer, code=code)
        self.assertRegex(out["resolv"], r"\Anameserver 198\.19\.\d+\.\d+\n"
                                        r"options timeout:2 attempts:2\n\Z")
        self.assertEqual((out["tmp"], out["write"]), ([], 30))
        for what in ("unlink", "raw", "netlink", "down"):
            self.assertNotEqual(out[what], 0, what)

    def test_a_burst_of_datagrams_is_refused_at_once(self):
        code = f"""
import json, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(({PUBLIC4!r}, 4000))
s.settimeout(1)
refused, began = 0, time.monotonic()
for _ in range(100):
    try:
        s.send(b"x")
        s.recv(1)
    except ConnectionRefusedError:
        refused += 1
print(json.dumps([refused, time.monotonic() - began]))
"""
        (refused, seconds), finished = probe(self.jailer, code=code)
        self.assertEqual(refused, 100)
        self.assertLess(seconds, 1)
        self.assertEqual(finished["denied_network"], [(PUBLIC4, UDP, 4000, 100)])

    def test_more_targets_than_are_listed(self):
        found, finished = probe(self.jailer, *(f"10.0.0.{n} 80" for n in range(1, 41)))
        self.assertEqual(len(found), 40)
        self.assertEqual(len(finished["denied_network"]), protocol.MAX_DENIED_NETWORK)
        self.assertEqual(finished["denied_network_more"], 1)

    def test_the_slot_is_gone_after_it(self):
        before = self.world.census()
        _, _ = probe(self.jailer, f"{PUBLIC4} 80")
        self.assertEqual(settle(self.world, before), {})
        self.assertEqual(settle_elements(self.world), {})


class TestNames(WorldCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jailer = cls.enterClassContext(Jailer(cls.world))

    def held(self, egress, code=SLEEP):
        sandbox = create(self.jailer, egress=egress)
        kind, fields, fds = self.jailer.connection.receive_about(sandbox)
        self.assertEqual(kind, protocol.CREATED, fields)
        self.addCleanup(close_all, fds[1:])
        start(self.jailer, sandbox, fds, code)
        return sandbox, *self.jailer.resolver.slot_of(sandbox), fds

    def finish(self, sandbox):
        self.jailer.connection.send(protocol.KILL, id=sandbox)
        kind, fields, _ = self.jailer.connection.receive_about(sandbox)
        self.assertEqual(kind, protocol.FINISHED)
        return fields

    ASK = f"""
import socket, sys, time
def attempt():
    try:
        return socket.create_connection(({PUBLIC4!r}, 443), 3).recv(64).decode()
    except OSError as error:
        return type(error).__name__
print(attempt(), flush=True)
last = "ConnectionRefusedError"
while True:
    now = attempt()
    if now != last:
        print(now, flush=True)
        last = now
    time.sleep(0.05)
"""

    def line(self, fd, timeout):
        """The next line: what it prints comes in parts."""
        text = b""
        while not text.endswith(b"\n"):
            self.assertTrue(slots.readable(fd, timeout), "no line came")
            text += os.read(fd, 1)
        return text.decode().strip()

    def test_an_address_of_a_name_for_its_time(self):
        rules = protocol.encode_egress(names=[("api.example.org", 3)])
        sandbox, slot, generation, fds = self.held(rules, self.ASK)
        resolver = self.jailer.resolver
        self.assertEqual(self.line(fds[1], 5), "ConnectionRefusedError")
        self.assertEqual(resolver.allow(slot, generation, PUBLIC4, protocol.HTTPS, ttl=1), 0)
        self.assertEqual(self.line(fds[1], 5), slots.NODE4)
        # Again, before it has run out: from now on it counts anew.
        time.sleep(4)
        self.assertEqual(resolver.allow(slot, generation, PUBLIC4, protocol.HTTPS, ttl=1), 0)
        began = time.monotonic()
        self.assertEqual(self.line(fds[1], 20), "ConnectionRefusedError")
        self.assertGreater(time.monotonic() - began, 8)
        self.assertEqual(resolver.allow(slot, generation, "10.0.0.1"), EACCES)
        self.assertEqual(resolver.allow(slot, generation, "fd00:ec2::254"), EACCES)
        self.assertEqual(resolver.allow(slot, generation + 1, PUBLIC4), ESTALE)
        resolver.deny(slot, generation, "metadata.google.internal")
        resolver.deny(slot, generation, "metadata.google.internal")
        time.sleep(0.1)
        finished = self.finish(sandbox)
        self.assertEqual(finished["denied_names"], [("metadata.google.internal", 2)])
        self.assertEqual(resolver.allow(slot, generation, PUBLIC4), ESTALE)
        resolver.wait_for(lambda me: (slot, generation) in me.closed)
        self.assertEqual(settle_elements(self.world), {})

    def test_more_addresses_than_there_is_room_for(self):
        """Each is refused at once: a failed transaction of nftables takes 10 ms, and all wait."""
        egress = protocol.encode_egress(names=[("*.example.org", 3)])
        sandbox, slot, generation, _ = self.held(egress)
        resolver = self.jailer.resolver
        answers, took = [], []
        for number in range(700):
            begin = time.monotonic()
            answers.append(resolver.allow(slot, generation, f"9.0.{number >> 8}.{number & 255}"))
            took.append(time.monotonic() - begin)
        self.assertEqual(answers, 512 * [0] + 188 * [errno.ENOSPC])
        self.assertLess(statistics.median(took[513:]), 0.005)
        self.finish(sandbox)

    def test_without_names_in_the_rules_none_is_opened(self):
        sandbox, slot, generation, _ = self.held(b"")
        self.assertEqual(self.jailer.resolver.allow(slot, generation, PUBLIC4), EPERM)
        self.finish(sandbox)


class TestTheResolver(WorldCase):
    def test_it_comes_and_goes(self):
        with Jailer(self.world, "--slots", "1", socket=True) as jailer:
            jailer.connect()
            self.assertEqual(jailer.hello["profiles"], 3)
            # Who asks before it is there waits for it.
            early = create(jailer)
            with self.assertRaises(TimeoutError):
                jailer.connection.receive(0.5)
            resolver = jailer.connect_resolver()
            kind, _, fds = jailer.connection.receive_about(early)
            self.assertEqual(kind, protocol.CREATED)
            close_all(fds)
            jailer.connection.send(protocol.KILL, id=early)
            jailer.connection.receive_about(early)
            resolver.wait_for(lambda me: me.hello)
            self.assertEqual(resolver.hello[1:3], (bytes([198, 19, 192, 0]), bytes.fromhex(
                "fd536272000000000000000000000000")))
            self.assertEqual(jailer.tool_call("print(1)").stdout, b"1\n")

            sandbox = create(jailer)
            kind, _, fds = jailer.connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.CREATED)
            slot = resolver.slot_of(sandbox)
            resolver.close()
            # Not for ever.
            until = time.monotonic() + 30
            while not (refused := jailer.tool_call("pass").refused) and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual(refused["lock"], "network")
            self.assertIn("the resolver is not running", refused["text"])
            self.assertEqual(jailer.run("print(2)").stdout, b"2\n")
            # One that comes is told of the slots that are open.
            self.assertEqual(jailer.connect_resolver().slot_of(sandbox), slot)
            self.assertEqual(jailer.tool_call("print(3)").stdout, b"3\n")
            close_all(fds)

    def test_one_that_breaks_the_protocol_is_dropped(self):
        with Jailer(self.world, "--slots", "0", socket=True) as jailer:
            jailer.connect()
            resolver = jailer.connect_resolver(greet=False)
            resolver.wait_for(lambda me: me.hello)
            resolver.send(slots.DENIED, b"\0" * 268)
            resolver.wait_for(lambda me: me.ended)
            jailer.connect_resolver()
            self.assertEqual(jailer.tool_call("print(1)").stdout, b"1\n")

    def test_where_there_is_none_there_is_no_tool_call(self):
        with Jailer(self.world, resolver=False) as jailer:
            self.assertEqual(jailer.hello["profiles"], 1)
            refused = jailer.tool_call("pass").refused
            self.assertEqual(refused["lock"], "network")
            self.assertIn("no resolver", refused["text"])


class TestTheLock(WorldCase):
    def test_a_slot_that_can_not_be_entered(self):
        # The helpers that make slots have names of their own. Nothing runs in another namespace.
        wrapper = denying_asked("setns:1=0x40000000", caller="sandboxrun-jail")
        with Jailer(self.world, wrapper=wrapper) as jailer:
            for _ in range(3):
                result = jailer.tool_call("print('ran')")
                self.assertFalse(result.created)
                self.assertEqual(result.refused["lock"], "namespaces", result.refused)
                self.assertIn("network namespace", result.refused["text"])
            self.assertEqual(settle_elements(self.world), {})


class TestWaiting(WorldCase):
    def test_more_runs_than_slots(self):
        with Jailer(self.world) as jailer:
            created, waiting = {}, []
            sandboxes = [create(jailer) for _ in range(19)]
            for _ in range(16):
                kind, fields, fds = jailer.connection.receive(20)
                self.assertEqual(kind, protocol.CREATED, fields)
                created[fields["id"]] = fds
            waiting = [sandbox for sandbox in sandboxes if sandbox not in created]
            self.assertEqual(waiting, sandboxes[16:])
            # One of those that wait is ended, one gets the slot of one that ends, one gives up.
            jailer.connection.send(protocol.KILL, id=waiting[1])
            kind, fields, _ = jailer.connection.receive_about(waiting[1])
            self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_KILLED))
            self.assertEqual((fields["denied_network"], fields["denied_network_more"]), ([], 0))
            jailer.connection.send(protocol.KILL, id=sandboxes[3])
            kind, _, _ = jailer.connection.receive_about(sandboxes[3])
            self.assertEqual(kind, protocol.FINISHED)
            kind, fields, fds = jailer.connection.receive_about(waiting[0])
            self.assertEqual(kind, protocol.CREATED, fields)
            created[waiting[0]] = fds
            kind, fields, _ = jailer.connection.receive_about(waiting[2])
            self.assertEqual((kind, fields["lock"]), (protocol.REFUSED, "network"))
            self.assertIn("no network slot was free within 5000 ms", fields["text"])
            for fds in created.values():
                close_all(fds)

    def test_the_end_while_one_waits(self):
        before = self.world.census()
        for signum in signal.SIGTERM, signal.SIGKILL:
            with Jailer(self.world) as jailer:
                for _ in range(19):
                    create(jailer)
                kind, fields, fds = jailer.connection.receive(20)
                self.assertEqual(kind, protocol.CREATED, fields)
                self.assertEqual(jailer.stop(signum), 0 if signum == signal.SIGTERM else -signum)
                close_all(fds)
            self.assertEqual(settle(self.world, before), {})


class TestHelpers(WorldCase):
    def test_the_end_of_the_one_with_the_rules(self):
        with Jailer(self.world) as jailer:
            code = PROBE.replace("found = {}", "found = {}\nprint(flush=True)\nsys.stdin.read()\n"
                                               "import time; time.sleep(1.5)")
            sandbox = create(jailer)
            _, _, fds = jailer.connection.receive_about(sandbox)
            start(jailer, sandbox, fds, f"import sys\nsys.argv = ['', '{PUBLIC4} 80', "
                                        f"'{PUBLIC4} 22']\n" + code)
            (pid,) = children_of(jailer)["net"]
            os.kill(pid, signal.SIGKILL)
            until = time.monotonic() + 5
            while (result := jailer.tool_call("pass")).created and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual(result.refused["lock"], "network")
            self.assertIn("has ended", result.refused["text"])
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            # The one that runs has the rules that it had; what it was refused nobody can tell.
            kind, fields, _ = jailer.connection.receive_about(sandbox, 20)
            self.assertEqual(kind, protocol.FINISHED)
            os.set_blocking(fds[1], True)
            output = os.read(fds[1], 4096).decode()
            self.assertIn(f'"{PUBLIC4} 80": "{slots.NODE4}"', output)
            self.assertIn(f'"{PUBLIC4} 22": "ConnectionRefusedError"', output)
            self.assertEqual((fields["denied_network"], fields["denied_network_more"]), ([], 1))
            close_all(fds[1:])
            until = time.monotonic() + 20
            while (result := jailer.tool_call("print(2)")).refused and time.monotonic() < until:
                time.sleep(0.2)
            self.assertEqual(result.stdout, b"2\n")

    def test_rights(self):
        net_admin, sys_admin = 1 << 12, 1 << 21
        with Jailer(self.world, "--slots", "1") as jailer:
            self.assertEqual(jailer.tool_call("print(1)").stdout, b"1\n")
            children = children_of(jailer)
            for name, wanted in (("net", net_admin), ("slots", net_admin | sys_admin)):
                (pid,) = children[name]
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    status = dict(line.rstrip("\n").split(":\t", 1)
                                  for line in file if ":\t" in line)
                self.assertEqual(int(status["CapEff"], 16), wanted, name)
                self.assertEqual(int(status["CapPrm"], 16), wanted, name)
                links = [os.readlink(f"/proc/{pid}/fd/{fd}")
                         for fd in os.listdir(f"/proc/{pid}/fd")]
                self.assertFalse([link for link in links
                                  if link.startswith(("pipe:", "anon_inode"))])


class TestTheStart(WorldCase):
    def test_a_single_run_without_network_pays_nothing(self):
        before = self.world.census(), self.world.sysctls()
        with Jailer(self.world) as jailer:
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            self.assertLessEqual(set(children_of(jailer)), {"netns", "reaper"})
            self.assertEqual((self.world.census(), self.world.sysctls()), before)

    def expect_sysctls(self, values):
        """The helper that puts them back outlives its jailer for a while."""
        until = time.monotonic() + 10
        while self.world.sysctls() != values and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.world.sysctls(), values)

    def test_sysctls_are_set_and_put_back(self):
        # A new namespace has the machine's own.
        self.world.node.sysctl(net__ipv4__ip_forward="0")
        before = self.world.sysctls()
        for signum in signal.SIGTERM, signal.SIGKILL:
            with Jailer(self.world) as jailer:
                self.assertEqual(jailer.tool_call("print(1)").stdout, b"1\n")
                now = self.world.sysctls()
                self.assertIn("ip_forward = 1", now)
                self.assertIn("icmp_ratelimit = 0", now)
                self.assertIn("ipv6.conf.all.forwarding = 1", now)
                jailer.stop(signum)
            self.expect_sysctls(before)

    def test_what_an_earlier_one_left_is_swept(self):
        before = self.world.census()
        self.world.node.nft("table inet sandboxrun_0 {\nset policies { type ipv4_addr; }\n}\n")
        self.world.node.ip("link add sbr0-5 type veth peer name left\n")
        with Jailer(self.world) as jailer:
            found, _ = probe(jailer, f"{PUBLIC4} 80")
            self.assertEqual(list(found.values()), [slots.NODE4])
            self.assertNotIn("sbr0-5", self.world.census()["links"])
        self.assertEqual(settle(self.world, before), {})

    def test_ranges_that_overlap_a_route(self):
        self.world.node.ip("route add 198.19.200.0/24 via 172.20.0.1\n")
        self.addCleanup(self.world.node.ip, "route del 198.19.200.0/24\n")
        with Jailer(self.world, socket=True) as jailer:
            jailer.connect()
            self.assertEqual(jailer.hello["profiles"], 1)
            (check,) = [c for c in jailer.checks if c["name"] == "network.ranges"]
            self.assertEqual((check["level"], check["outcome"]),
                             (protocol.RECOMMENDED, protocol.FAILED))
            for word in ("198.19.192.0/18", "198.19.200.0/24", "eth0"):
                self.assertIn(word, check["figure"])
            self.assertIn("--slot-range", check["advice"])
            refused = jailer.tool_call("pass").refused
            self.assertIn("198.19.200.0/24", refused["text"])
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
        with Jailer(self.world, "--slot-range", "10.77.0.0/18") as jailer:
            found, _ = probe(jailer, f"{PUBLIC4} 80")
            self.assertEqual(list(found.values()), [slots.NODE4])

    def test_two_with_one_number(self):
        other = ("--cgroup-parent", slots.PARENT + "-other", "--uid-base", "2101000000")
        with Jailer(self.world) as first:
            self.assertEqual(first.tool_call("print(1)").stdout, b"1\n")
            with Jailer(self.world, place=other) as second:
                refused = second.tool_call("print(2)", wait=30).refused
                self.assertEqual(refused["lock"], "network")
                self.assertIn("another jailer with number 0", refused["text"])
            found, _ = probe(first, f"{PUBLIC4} 80", f"{PUBLIC4} 22")
            self.assertEqual(list(found.values()), [slots.NODE4, "ConnectionRefusedError"])

    def test_two_with_two_numbers(self):
        self.world.node.sysctl(net__ipv4__ip_forward="0")
        before = self.world.sysctls()
        with Jailer(self.world) as first, Jailer(self.world) as second:
            for jailer in first, second, first:
                found, _ = probe(jailer, f"{PUBLIC4} 80", f"{PUBLIC4} 22")
                self.assertEqual(list(found.values()), [slots.NODE4, "ConnectionRefusedError"])
            first.stop()
            # What both need stays until the last.
            found, _ = probe(second, f"{PUBLIC4} 80", f"{PUBLIC4} 22")
            self.assertEqual(list(found.values()), [slots.NODE4, "ConnectionRefusedError"])
        # And then it is as before the first, which the last has never seen.
        self.expect_sysctls(before)


class TestAnotherFirewall(WorldCase):
    """One that drops what it doesn't know, as Docker's: nothing would say why a program hangs."""

    POLICY = "type filter hook forward priority 0; policy drop;"
    # What such firewalls accept at any rate.
    KNOWN = "ct state established,related accept\niifname docker0 accept\n"

    def firewall(self, family="ip", rules="", policy=POLICY):
        table = f"{family} filter"
        self.world.node.nft(f"table {table} {{\nchain FORWARD {{\n{policy}\n{self.KNOWN}{rules}\n"
                            "}\n}\n")
        self.addCleanup(self.world.node.nft, f"delete table {table}\n")

    def expect_off(self):
        with Jailer(self.world, socket=True) as jailer:
            jailer.connect()
            self.assertEqual(jailer.hello["profiles"], 1)
            (check,) = [c for c in jailer.checks if c["name"] == "network.start"]
            self.assertEqual((check["level"], check["outcome"]),
                             (protocol.RECOMMENDED, protocol.FAILED))
            refused = jailer.tool_call("pass").refused
            for text in check["figure"], refused["text"]:
                for word in ("forward chain", "sbr*", "DOCKER-USER"):
                    self.assertIn(word, text)
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")

    def expect_on(self, wanted6=slots.NODE6):
        with Jailer(self.world) as jailer:
            found, _ = probe(jailer, f"{PUBLIC4} 80", f"{PUBLIC6} 80", f"{PUBLIC4} 22")
            self.assertEqual(list(found.values()),
                             [slots.NODE4, wanted6, "ConnectionRefusedError"])
            return jailer.log_text()

    def test_that_drops_all(self):
        before = self.world.census(), self.world.sysctls()
        self.firewall()
        self.expect_off()
        self.doCleanups()
        # By a rule in place of the policy, and of both families.
        self.firewall("inet", "counter drop", self.POLICY.replace("drop", "accept"))
        self.expect_off()
        self.doCleanups()
        self.assertEqual(settle(self.world, before[0]), {})
        self.assertEqual(self.world.sysctls(), before[1])

    def test_that_lets_sandboxes_through(self):
        self.firewall("inet", 'iifname "sbr*" accept\noifname "sbr*" accept')
        self.expect_on()

    def test_that_drops_ipv6_alone(self):
        self.firewall("ip6")
        self.assertIn("sandboxes get no IPv6", self.expect_on("OSError"))

    def test_that_refuses_and_says_so(self):
        self.firewall("inet", "reject with icmpx admin-prohibited",
                      self.POLICY.replace("drop", "accept"))
        with Jailer(self.world) as jailer:
            found, _ = probe(jailer, f"{PUBLIC4} 80")
            self.assertEqual(list(found.values()), ["OSError"])

    def test_what_is_tried_leaves_nothing(self):
        with Jailer(self.world) as jailer:
            self.assertEqual(jailer.tool_call("print(1)").stdout, b"1\n")
            table = self.world.node.run("nft", "list", "table", "inet", "sandboxrun_0").stdout
            self.assertNotIn("probe", table)
            self.assertEqual(settle_elements(self.world), {})
            self.assertEqual(self.world.census()["tracked"], set())

    def test_a_node_without_a_way_out(self):
        """Is none that is told apart: its programs are refused at once."""
        for command in "route del default", "-6 route del default":
            self.world.node.run("ip", *command.split())
        self.addCleanup(self.world.node.ip, "route add default via 172.20.0.1\n"
                                            "route add ::/0 via 2001:db8:20::1\n")
        with Jailer(self.world) as jailer:
            found, _ = probe(jailer, f"{PUBLIC4} 80")
            self.assertEqual(list(found.values()), ["OSError"])


class TestWithoutIPv6(WorldCase):
    def test_a_node_that_has_it_switched_off(self):
        self.world.node.sysctl(net__ipv6__conf__all__disable_ipv6="1",
                               net__ipv6__conf__default__disable_ipv6="1")
        with Jailer(self.world) as jailer:
            found, finished = probe(jailer, f"{PUBLIC4} 80", f"{PUBLIC4} 22", f"{PUBLIC6} 80")
            self.assertEqual(list(found.values()),
                             [slots.NODE4, "ConnectionRefusedError", "OSError"])
            self.assertEqual(finished["denied_network"], [(PUBLIC4, TCP, 22, 1)])


class TestLeaks(WorldCase):
    RUNS = int(os.environ.get("SLOT_RUNS", "200"))

    def fd_count(self, jailer):
        return len(os.listdir(f"/proc/{jailer.process.pid}/fd"))

    def end_one(self, jailer, sandbox, fds, chance):
        if chance.random() < 0.3:
            time.sleep(chance.random() * 0.03)
        jailer.connection.send(protocol.KILL, id=sandbox)
        for fd in fds:
            os.close(fd)
        kind, _, late = jailer.connection.receive_about(sandbox, 20)
        if kind == protocol.CREATED:
            close_all(late)
            kind, _, _ = jailer.connection.receive_about(sandbox, 20)
        self.assertIn(kind, (protocol.FINISHED, protocol.REFUSED))

    def run_one(self, jailer, chance):
        """One run that is killed at a stage by chance."""
        rules = protocol.encode_egress([("8.8.0.0/16", 3)], [("api.example.org", 3)])
        sandbox = create(jailer, cpu=1000, egress=chance.choice([b"", rules]))
        stage = chance.randrange(4)
        fds = []
        if stage > 0:
            kind, _, fds = jailer.connection.receive_about(sandbox, 20)
            self.assertEqual(kind, protocol.CREATED)
            if chance.random() < 0.3:
                jailer.resolver.allow(*jailer.resolver.slot_of(sandbox), PUBLIC4, ttl=3600)
        if stage > 1:
            code = f"import sys; sys.argv = ['', '{PUBLIC4} 80', '{PUBLIC4} 22', '10.0.0.1 80']\n"
            start(jailer, sandbox, fds, code + PROBE if stage > 2 else SLEEP)
            fds = fds[1:]
        self.end_one(jailer, sandbox, fds, chance)

    def test_runs_killed_at_random_stages(self):
        chance = random.Random(7)
        with Jailer(self.world, "--slots", "4") as jailer:
            self.assertEqual(jailer.tool_call("print(1)").stdout, b"1\n")
            time.sleep(0.5)
            before, fds = self.world.census(), self.fd_count(jailer)
            for _ in range(self.RUNS):
                self.run_one(jailer, chance)
            time.sleep(1)
            after = self.world.census()
            # As many slots ready as before, under other numbers.
            for kind in ("links", "addresses", "routes", "tables"):
                self.assertEqual(len(after[kind]), len(before[kind]), kind)
            self.assertEqual(after["tracked"], set())
            self.assertEqual(settle_elements(self.world), {})
            self.assertEqual(self.fd_count(jailer), fds)
            self.assertEqual(jailer.resolver.open, {})
            self.report(jailer.log_text())

    def report(self, log):
        times = [int(us) for us in re.findall(r"sandbox gone .*?\bslot_us=(\d+)", log) if us != "0"]
        reads = [int(us) for us in re.findall(r"sandbox gone .*?\bread_us=(\d+)", log) if us != "0"]
        for name, values in (("slot ready and rules in force", times), ("what was refused", reads)):
            values.sort()
            print(f"\n{name}: {len(values)} runs, median {values[len(values) // 2]} us, "
                  f"p99 {values[len(values) * 99 // 100]} us", end="")
        self.assertGreater(len(times), self.RUNS // 2)


if __name__ == "__main__":
    unittest.main()
