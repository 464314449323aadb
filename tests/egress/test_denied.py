# SPDX-License-Identifier: Apache-2.0
"""Refusals explain themselves: at once to the program, and by name in the result."""

import json
import socket
import unittest

import probes
from case import EgressTest
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import need_root
from helpers.toolcall import local_run

TCP, UDP = socket.IPPROTO_TCP, socket.IPPROTO_UDP

# COUNT sockets at once; each one's error and how long after its own start it came.
BURST = """
import errno, json, select, socket, sys, time
kind, count = sys.argv[1], int(sys.argv[2])
targets = [json.loads(text) for text in sys.argv[3:]]
poll, sockets, begun, results = select.epoll(), {}, {}, []
for index in range(count):
    address, port = targets[index % len(targets)]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    sock.setblocking(False)
    begun[sock.fileno()] = time.monotonic()
    code = sock.connect_ex((address, port))
    if kind == "udp":
        sock.send(b"x")
    elif code not in (0, errno.EINPROGRESS):
        results.append([errno.errorcode[code], (time.monotonic() - begun[sock.fileno()]) * 1000])
        continue
    sockets[sock.fileno()] = sock
    poll.register(sock, select.EPOLLERR | select.EPOLLHUP)
until = time.monotonic() + 2
while sockets and time.monotonic() < until:
    for fd, _ in poll.poll(0.1):
        now = time.monotonic()
        sock = sockets.pop(fd)
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        results.append([errno.errorcode.get(code, str(code)), (now - begun[fd]) * 1000])
        poll.unregister(fd)
        sock.close()
results += [["silence", 2000]] * len(sockets)
print(json.dumps(results))
"""

# One socket, which sees each error before it sends again.
ONE_SOCKET = """
import json, socket, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect(("8.8.8.8", 4433))
sock.settimeout(2)
outcomes = []
for _ in range(100):
    begin = time.monotonic()
    try:
        sock.send(b"x")
        sock.recv(10)
        outcome = "answered"
    except OSError as error:
        outcome = type(error).__name__
    outcomes.append([outcome, (time.monotonic() - begin) * 1000])
print(json.dumps(outcomes))
"""

TRIES = """
import json, socket, sys
outcomes = []
for text in sys.argv[1:]:
    kind, address, port, count = json.loads(text)
    for _ in range(count):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
        sock.settimeout(2)
        try:
            sock.connect((address, port))
            if kind == "udp":
                sock.send(b"x")
                sock.recv(10)
            outcomes.append("connected")
        except OSError as error:
            outcomes.append(type(error).__name__)
        sock.close()
print(json.dumps(outcomes))
"""

NAMES = """
import json, socket, sys
outcomes = []
for name in sys.argv[1:]:
    try:
        socket.getaddrinfo(name, 80)
        outcomes.append("found")
    except OSError as error:
        outcomes.append(type(error).__name__)
print(json.dumps(outcomes))
"""

MIXED = [("8.8.8.8", 22), ("10.0.0.1", 80), ("2606:4700::1111", 8080), ("fd00:ec2::254", 80)]


class TestBursts(EgressTest):
    """Nobody waits for a refusal, not even when many come at once. A busy machine has three
    chances: what counts is that it can be done, and that no run has silence in it."""

    def refused_soon(self, code, count, refusal, args=(), chances=3):
        for _ in range(chances):
            results = self.node.run_json(code, args=args)
            self.assertEqual(len(results), count)
            self.assertEqual({outcome for outcome, _ in results}, {refusal})
            slowest = max(took for _, took in results)
            if slowest <= probes.WITHIN_MS:
                break
        self.assertLessEqual(slowest, probes.WITHIN_MS)

    def burst(self, kind, count):
        targets = [json.dumps(target) for target in MIXED]
        self.refused_soon(BURST, count, "ECONNREFUSED", args=[kind, str(count), *targets])

    def test_100_udp_sends(self):
        self.burst("udp", 100)

    def test_200_tcp_connects(self):
        self.burst("tcp", 200)

    def test_100_sends_by_one_socket(self):
        self.refused_soon(ONE_SOCKET, 100, "ConnectionRefusedError")

    def test_several_sandboxes_at_once(self):
        """One that floods takes nothing from another's answers."""
        flood = ("import socket\nsock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                 "while True:\n    try:\n        sock.sendto(b'x', ('10.0.0.1', 9))\n"
                 "    except OSError:\n        pass\n")
        with self.node.hold(flood):
            self.refused_soon(ONE_SOCKET, 100, "ConnectionRefusedError", chances=5)


class TestReports(EgressTest):
    def tries(self, *tries, **options):
        result = self.node.run(TRIES, args=[json.dumps(entry) for entry in tries], **options)
        self.assertTrue(result.created, result.refused)
        self.assertEqual(result.exit_code, 0, result.stderr)
        return json.loads(result.stdout), result.finished

    def test_addresses_ports_protocols_counts(self):
        outcomes, finished = self.tries(
            ["tcp", "8.8.8.8", 22, 3], ["udp", "2606:4700::1111", 443, 2],
            ["tcp", net.METADATA4, 80, 1], ["tcp", net.METADATA6, 80, 4],
            ["tcp", "8.8.8.8", 80, 2])
        self.assertEqual(outcomes[-2:], ["connected"] * 2)
        self.assertEqual(set(outcomes[:-2]), {"ConnectionRefusedError"})
        self.assertEqual(set(finished["denied_network"]), {
            ("8.8.8.8", TCP, 22, 3), ("2606:4700::1111", UDP, 443, 2),
            (net.METADATA4, TCP, 80, 1), (net.METADATA6, TCP, 80, 4)})
        self.assertEqual(finished["denied_network_more"], 0)

    def test_nothing_denied_nothing_reported(self):
        _, finished = self.tries(["tcp", "8.8.8.8", 443, 1])
        self.assertEqual(finished["denied_network"], [])
        self.assertEqual(finished["denied_names"], [])

    def test_one_run_s_refusals_are_not_another_s(self):
        self.tries(["tcp", "10.9.9.9", 80, 1])
        for _ in range(20):
            _, finished = self.tries(["tcp", "8.8.8.8", 443, 1])
            self.assertEqual(finished["denied_network"], [])

    def test_more_than_there_is_room_for(self):
        tries = [["tcp", f"10.0.{number}.1", 80, 1] for number in range(60)]
        outcomes, finished = self.tries(*tries)
        self.assertEqual(set(outcomes), {"ConnectionRefusedError"})
        self.assertEqual(len(finished["denied_network"]), protocol.MAX_DENIED_NETWORK)
        self.assertEqual(finished["denied_network_more"], 1)

    def test_names(self):
        rules = protocol.encode_egress(names=[("api.example.org", protocol.HTTPS)])
        result = self.node.run(NAMES, egress=rules, args=[
            "api.example.org", "www.example.com", "www.example.com", "metadata.example.net"])
        self.assertEqual(json.loads(result.stdout), ["found", "gaierror", "gaierror", "gaierror"])
        denied = dict(result.finished["denied_names"])
        self.assertEqual(set(denied), {"www.example.com", "metadata.example.net"})
        self.assertGreaterEqual(denied["www.example.com"], 2)

    def test_a_name_with_forbidden_addresses_only(self):
        result = self.node.run(NAMES, args=["metadata.example.net"])
        self.assertEqual(json.loads(result.stdout), ["gaierror"])
        self.assertIn("metadata.example.net", dict(result.finished["denied_names"]))

    def test_after_a_kill(self):
        """The report comes whatever ends the run."""
        code = TRIES + "import time\ntime.sleep(60)\n"
        result = self.node.run(code, args=[json.dumps(["tcp", "8.8.8.8", 23, 2])], timeout_ms=1500)
        self.assertEqual(result.finished["end"], protocol.END_DEADLINE)
        self.assertEqual(result.finished["denied_network"], [("8.8.8.8", TCP, 23, 2)])


class TestCommandLine(unittest.TestCase):
    """`sandboxrun run -o json` on a node with nothing but itself."""

    @classmethod
    def setUpClass(cls):
        need_root()
        cls.internet = cls.enterClassContext(net.Internet())

    def run_status(self, code, **spec):
        done = local_run(self.internet, code, **spec)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)["status"]

    def test_status(self):
        tries = [["tcp", "203.0.114.99", 22, 1], ["udp", "2606:4700::1111", 443, 2],
                 ["tcp", "10.0.0.1", 80, 3], ["tcp", "8.8.8.8", 443, 1]]
        code = TRIES + ("try:\n    socket.getaddrinfo('metadata.example.net', 80)\n"
                        "except OSError:\n    pass\n")
        status = self.run_status(code, args=[json.dumps(entry) for entry in tries])
        self.assertEqual(status["phase"], "Succeeded", status)
        self.assertEqual(json.loads(status["stdout"])[-1], "connected")
        denied = {(entry["kind"], entry["target"]): entry["count"] for entry in status["denied"]}
        names = denied.pop(("Network", "metadata.example.net (DNS)"), None)
        self.assertIsNotNone(names, status["denied"])
        self.assertEqual(denied, {
            ("Network", "203.0.114.99:22/TCP"): 1, ("Network", "[2606:4700::1111]:443/UDP"): 2,
            ("Network", "10.0.0.1:80/TCP"): 3})

    def test_names_work(self):
        status = self.run_status(NAMES, args=["www.example.com"])
        self.assertEqual(status["stdout"].strip(), '["found"]', status)
