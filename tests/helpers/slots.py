# SPDX-License-Identifier: Apache-2.0
"""A node with a network of its own for the jailer's slots, and a resolver that does as it is told.

The smallest world in which a ToolCall run can connect to something: a namespace for the node, and
one behind it with a public address that a server listens on.
"""

import contextlib
import os
import select
import socket
import struct
import subprocess
import sys
import threading

from helpers import jailer_protocol as protocol
from helpers.local import RUNTIMES, program
from helpers.netns import Namespace, die_with_parent

PARENT = "sandboxrun-slots"
# Other jailers of this machine have other parents, and so must have other uids.
UID_BASE = "2100900000"
PLACE = ("--cgroup-parent", PARENT, "--uid-base", UID_BASE)

PUBLIC4, PUBLIC6 = "8.8.8.8", "2001:4860:4860::8888"
NODE4, NODE6 = "172.20.0.2", "2001:db8:20::2"

SERVER = """
import socket, threading
def serve(family, address, port):
    server = socket.socket(family)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.bind((address, port))
    server.listen(512)
    while True:
        peer, name = server.accept()
        peer.sendall(name[0].encode())
        peer.close()
for family, address in (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"):
    for port in 80, 443, 22, 8080:
        threading.Thread(target=serve, args=(family, address, port)).start()
print("ready", flush=True)
"""


class World:
    """with World() as world: world.node is where a jailer belongs."""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.node, self.outside = Namespace(), Namespace()
            stack.callback(self.node.close)
            stack.callback(self.outside.close)
            self._connect()
            self.server = subprocess.Popen(
                self.outside.enter(sys.executable, "-c", SERVER), stdout=subprocess.PIPE,
                preexec_fn=die_with_parent)  # fmt: skip
            stack.callback(self._end_server)
            self.server.stdout.readline()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _end_server(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def _connect(self):
        self.node.ip(f"""link set lo up
link add eth0 type veth peer name out netns {self.outside.pid}
addr add {NODE4}/24 dev eth0
addr add {NODE6}/64 dev eth0 nodad
link set eth0 up
route add default via 172.20.0.1
route add ::/0 via 2001:db8:20::1
""")
        self.outside.ip(f"""link set lo up
addr add 172.20.0.1/24 dev out
addr add 2001:db8:20::1/64 dev out nodad
link set out up
addr add {PUBLIC4}/32 dev lo
addr add {PUBLIC6}/128 dev lo nodad
""")

    def census(self):
        """What a jailer could leave in the node's namespace."""
        run = self.node.run
        links = {line.split(":")[1].strip().split("@")[0]
                 for line in run("ip", "-o", "link").stdout.splitlines()}  # fmt: skip
        addresses = {line.split()[3] for line in run("ip", "-o", "addr").stdout.splitlines()}
        routes = set(run("ip", "route").stdout.splitlines())
        tables = set(run("nft", "list", "tables").stdout.splitlines())
        tracked = {line for line in run("conntrack", "-L", check=False).stdout.splitlines()
                   if "mark=15321" in line}  # 0x5b52....
        return {"links": links, "addresses": addresses, "routes": routes, "tables": tables,
                "tracked": tracked}  # fmt: skip

    def elements(self):
        """All elements of the jailer's table that a run could have left: by set."""
        left = {}
        for line in self.node.run("nft", "-a", "list", "table", "inet",
                                  "sandboxrun_0").stdout.split("\n\t}"):  # fmt: skip
            words = line.split()
            if len(words) > 1 and words[0] in ("set", "map") and "elements = {" in line:
                left[words[1]] = line[line.index("elements = {") :]
        static = ("forbidden", "martian", "sources", "gateways", "marks", "starts", "questions", "answers",
                  "refusals", "resolver")  # fmt: skip
        return {name: text for name, text in left.items() if not name.startswith(static)}

    def sysctls(self):
        names = ("net.ipv4.ip_forward", "net.ipv4.conf.all.accept_redirects",
                 "net.ipv4.icmp_ratelimit", "net.ipv4.icmp_ratemask",
                 "net.ipv6.conf.all.forwarding", "net.ipv6.icmp.ratelimit",
                 "net.ipv6.icmp.ratemask")  # fmt: skip
        return self.node.run("sysctl", *names).stdout


HELLO, READY, OPEN, ALLOW, CLOSE, DENIED, OPENED = range(1, 8)
VERSION = 1


class Resolver:
    """The resolver's side of its protocol, at the level of bytes. It answers HELLO, and keeps what
    it is told of slots; the rest is the test's to say."""

    def __init__(self, sock, port=5353, greet=True):
        self.sock = sock
        self.port = port
        self.open = {}
        self.closed = []
        self.opened = {}
        self.hello = None
        self.sequence = 0
        self.lock = threading.Condition()
        self.greet = greet
        self.ended = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                data = self.sock.recv(8192)
                if not data:
                    break
                kind, length = struct.unpack_from("<II", data)
                assert length == len(data)
                with self.lock:
                    self._take(kind, data[8:])
                    self.lock.notify_all()
        with self.lock:
            self.ended = True
            self.lock.notify_all()

    def _take(self, kind, body):
        if kind == HELLO:
            self.hello = struct.unpack_from("<I4s16sII", body)
            if self.greet:
                self.send(READY, struct.pack("<II", VERSION, self.port))
        elif kind == OPEN:
            slot, generation, name = struct.unpack_from("<IQ40s", body)
            self.open[slot] = (generation, name.rstrip(b"\0").decode())
        elif kind == CLOSE:
            slot, generation = struct.unpack("<IQ", body)
            self.closed.append((slot, generation))
            self.open.pop(slot, None)
        elif kind == OPENED:
            sequence, errnum = struct.unpack("<QI", body)
            self.opened[sequence] = errnum

    def send(self, kind, body):
        self.sock.send(struct.pack("<II", kind, len(body) + 8) + body)

    def wait_for(self, condition, timeout=10):
        with self.lock:
            if not self.lock.wait_for(lambda: condition(self), timeout):
                raise AssertionError("the jailer did not say it")

    def slot_of(self, sandbox):
        """(slot, generation) of a sandbox that is there."""
        self.wait_for(lambda me: any(name == sandbox for _, name in me.open.values()))
        with self.lock:
            return next((slot, generation) for slot, (generation, name) in self.open.items()
                        if name == sandbox)

    def allow(self, slot, generation, address, ports=3, ttl=60):
        """Asks for an address; the errno of the answer."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        packed = socket.inet_pton(family, address).ljust(16, b"\0")
        self.sequence += 1
        number = self.sequence
        self.send(ALLOW, struct.pack("<QIQII16sI", number, slot, generation, ports,
                                     6 if ":" in address else 4, packed, ttl))  # fmt: skip
        self.wait_for(lambda me: number in me.opened)
        return self.opened[number]

    def deny(self, slot, generation, name):
        self.send(DENIED, struct.pack("<IQ256s", slot, generation, name.encode()))

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        self.thread.join(5)


class Jailer(protocol.Jailer):
    """In the node of a world, with a resolver that the test plays."""

    def __init__(self, world, *options, binary=None, place=PLACE, wrapper=(), resolver=True,
                 **kwargs):  # fmt: skip
        self.with_resolver = resolver
        self.resolver = None
        super().__init__(binary or program("sandboxrun-jailer"), RUNTIMES, *place, *options,
                         wrapper=(*world.node.enter(), *wrapper), **kwargs)  # fmt: skip

    def _spawn(self, options, *fds):
        if self.with_resolver and not self.listens:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                number = theirs.fileno()
                super()._spawn([*options, "--resolver-fd", str(number)], *fds, number)
            self.resolver = Resolver(ours)
            return
        if self.with_resolver:
            self.resolver_path = os.path.join(self.directory.name, "resolver.sock")
            options = [*options, "--resolver-socket", self.resolver_path,
                       "--resolver-uid", str(os.getuid())]  # fmt: skip
        super()._spawn(options, *fds)

    def connect_resolver(self, timeout=10, **options):
        """A new resolver for a listening jailer."""
        self.resolver = Resolver(self._connect_to(self.resolver_path, timeout), **options)
        return self.resolver

    def tool_call(self, code, **options):
        return self.run(code, **protocol.AS_TOOL_CALL | options)

    def stop(self, *args, **kwargs):
        try:
            return super().stop(*args, **kwargs)
        finally:
            if self.resolver:
                self.resolver.close()


def readable(fd, timeout):
    return bool(select.select([fd], [], [], timeout)[0])
