# SPDX-License-Identifier: Apache-2.0
"""What a program in a sandbox tries beside the front door, with no more than a socket."""

import os
import subprocess
import sys
import time

from case import EgressTest, interfaces_of
from helpers import internet as net
from helpers import jailer_protocol as protocol
from helpers.local import FULL
from helpers.netns import die_with_parent

# A hop further than the world: what goes there passes a router.
BEHIND4, BEHIND6 = "5.5.5.5", "2a0a::5"

TRACE = """
import json, socket, struct, sys
IP_TTL, IP_RECVERR, IPV6_UNICAST_HOPS, IPV6_RECVERR = 2, 11, 16, 25
routers = []
for hops in range(1, 5):
    for family, address, level, ttl, errors in (
            (socket.AF_INET, sys.argv[1], 0, IP_TTL, IP_RECVERR),
            (socket.AF_INET6, sys.argv[2], 41, IPV6_UNICAST_HOPS, IPV6_RECVERR)):
        with socket.socket(family) as sock:
            sock.settimeout(0.5)
            sock.setsockopt(level, ttl, hops)
            sock.setsockopt(level, errors, 1)
            try:
                sock.connect((address, 80))
            except OSError:
                pass
            try:
                _, control, _, _ = sock.recvmsg(512, 512, socket.MSG_ERRQUEUE)
            except OSError:
                continue
            at, size = (20, 4) if family == socket.AF_INET else (24, 16)
            routers += [socket.inet_ntop(family, data[at:at + size]) for _, _, data in control]
print(json.dumps(routers))
"""

QUESTION = """
import socket, time
gateway = next(line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver"))
question = bytes.fromhex("123401000001000000000000") + b"\\3www\\7example\\3com\\0\\0\\1\\0\\1"
"""

LATE = QUESTION + """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    sock.connect((gateway, 53))
    sock.send(question)
time.sleep(0.5)
"""

FLOOD = QUESTION + """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    sock.connect((gateway, 53))
    sock.setblocking(False)
    print("begun", flush=True)
    while True:
        try:
            sock.send(question)
        except OSError:
            pass
"""

CONNECT = """
import json, socket, sys, time
results = {}
for address in sys.argv[1:]:
    begin = time.monotonic()
    try:
        socket.create_connection((address, 80), 2).close()
        answer = "connected"
    except OSError as error:
        answer = type(error).__name__
    results[address] = [answer, time.monotonic() - begin]
print(json.dumps(results))
"""

# As kube-proxy does of a service's public address, and a local proxy of all that passes.
OTHER_TABLE = f"""
table inet other {{
    chain elsewhere {{
        type nat hook prerouting priority dstnat; policy accept;
        ip daddr 34.1.1.1 tcp dport 80 dnat ip to {net.HOST4}:80
        ip daddr 34.1.1.2 tcp dport 80 redirect to :22
    }}
}}
"""


# Takes connections and never reads.
SINK = """
import socket
taken = []
with socket.socket() as server:
    server.bind(("0.0.0.0", 8081))
    server.listen(16)
    print("ready", flush=True)
    while True:
        taken.append(server.accept())
"""
SINK4 = "44.44.44.44"
SINK_TABLE = f"""
table ip sink {{
    chain there {{
        type nat hook prerouting priority -110; policy accept;
        ip daddr {SINK4} tcp dport 80 dnat to {net.HOST4}:8081
    }}
}}
"""

STUCK = f"""
import socket, time
sock = socket.create_connection(({SINK4!r}, 80), 5)
sock.setblocking(False)
for _ in range(10):
    try:
        while True:
            sock.send(bytes(65536))
    except BlockingIOError:
        time.sleep(0.05)
time.sleep(13)
"""

# Connections to itself, which nobody reads.
HOARD = """
import json, socket, time
pairs = []
with socket.socket() as server:
    server.bind(("127.0.0.1", 0))
    server.listen(512)
    while len(pairs) < 200:
        sender = socket.create_connection(server.getsockname())
        sender.setblocking(False)
        pairs.append((sender, server.accept()))
kept, moved = 0, True
until = time.monotonic() + 5
while moved and time.monotonic() < until:
    moved = False
    for sender, _ in pairs:
        try:
            kept += sender.send(bytes(1 << 20))
            moved = True
        except BlockingIOError:
            pass
print(json.dumps(kept >> 20))
"""


class TestAttacks(EgressTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.internet.world.sysctl(net__ipv4__ip_forward=1, net__ipv6__conf__all__forwarding=1)
        cls.internet.world.ip(f"""\
link add name behind0 type veth peer name behind1
link set behind0 up
link set behind1 up
route add {BEHIND4}/32 dev behind0
route add {BEHIND6}/128 dev behind0
neigh add {BEHIND4} lladdr 02:00:00:00:00:99 nud permanent dev behind0
neigh add {BEHIND6} lladdr 02:00:00:00:00:99 nud permanent dev behind0
""")

    def test_routers_on_the_way_are_not_told(self):
        """A packet that lives for one more hop only names the router where it ends."""
        self.assertEqual(self.node.run_json(TRACE, args=[BEHIND4, BEHIND6]), [])

    def test_an_answer_that_comes_too_late_is_no_refusal(self):
        """The kernel's own error about it goes to the resolver: the program did nothing."""
        for _ in range(3):
            result = self.node.run(LATE)
            self.assertEqual((result.exit_code, result.stderr), (0, b""))
            self.assertEqual(result.finished["denied_network"], [])

    def cpu_seconds(self):
        with open(f"/proc/{self.node.resolver.pid}/stat", encoding="ascii") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / 100

    def test_a_flood_of_questions_is_not_the_resolvers_burden(self):
        """It would work outside of every limit of the run."""
        with self.node.hold(FLOOD) as held:
            held.line()
            time.sleep(0.5)
            before = self.cpu_seconds()
            time.sleep(2)
            self.assertLess(self.cpu_seconds() - before, 0.4)

    def test_what_another_table_sends_elsewhere(self):
        """Judged by a public address, sent to a private one or to the node itself."""
        self.internet.node.nft(OTHER_TABLE)
        try:
            found = self.node.run_json(CONNECT, args=["34.1.1.1", "34.1.1.2"])
        finally:
            self.internet.node.nft("delete table inet other")
        for address, (answer, took) in found.items():
            self.assertEqual(answer, "ConnectionRefusedError", address)
            self.assertLess(took, 0.5, address)
        self.assertNotIn((net.HOST4, "tcp", 80), self.internet.arrived())

    def test_memory_of_connections_is_limited(self):
        """What the kernel keeps for a program that doesn't read is within limits of the run."""
        result = self.node.run(HOARD, memory=128 << 20)
        if result.finished["end"] == protocol.END_EXITED:
            self.assertLess(int(result.stdout), 192)
        else:
            self.assertEqual(result.finished["end"], protocol.END_OOM)


class TestStuck(EgressTest):
    """Takes 20 s, and what it tests came with Linux 6.15."""

    def test_a_connection_that_is_stuck_does_not_keep_the_slot(self):
        self.internet.world.nft(SINK_TABLE)
        with subprocess.Popen(self.internet.world.enter(sys.executable, "-c", SINK),
                              stdout=subprocess.PIPE, preexec_fn=die_with_parent) as sink:
            try:
                sink.stdout.readline()
                result = self.node.run(STUCK)
                self.assertEqual((result.exit_code, result.stderr), (0, b""))
                time.sleep(6.5)
                left = {name for name in interfaces_of(self.internet.node) if name.startswith("sbr")}
                self.assertEqual(left, set())
            finally:
                sink.kill()
                self.internet.world.nft("delete table ip sink")


if not FULL or not os.path.exists("/proc/sys/net/ipv4/tcp_rto_max_ms"):
    del TestStuck
