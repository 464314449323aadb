# SPDX-License-Identifier: Apache-2.0
"""The real resolver between a jailer and name servers that tests play, in a network of its own."""

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import wire
from helpers.local import program
from helpers.netns import new_network
from upstream import Upstream

RANGE4, RANGE6 = "198.19.192.0", "fd53:6272::"
METRICS = "127.0.0.1:9201"


def enter_network():
    """A network namespace for this process, with nothing but a loopback that has everything."""
    new_network()
    lines = ["link set lo up", "addr add 198.19.192.0/24 dev lo", "addr add 203.0.113.9/32 dev lo",
             f"route add local {RANGE6}/112 dev lo"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)
    # A client binds to an address of the range without it being there one by one.
    with open("/proc/sys/net/ipv6/ip_nonlocal_bind", "w") as file:
        file.write("1")


def sandbox_address(slot, family=4):
    return f"198.19.192.{2 * slot + 1}" if family == 4 else f"{RANGE6}{2 * slot + 1:x}"


def gateway_address(slot, family=4):
    return f"198.19.192.{2 * slot}" if family == 4 else f"{RANGE6}{2 * slot:x}"


class FakeJailer:
    """The jailer's end. It opens what it is asked to at once, unless `judge` says otherwise."""

    def __init__(self, **hello):
        self.hello = {"range4": RANGE4, "range6": RANGE6} | hello
        self.sock = None
        self.messages = []  # (time, type, fields)
        self.judge = lambda allow: 0  # an errno, None for silence, or (delay, errno)
        self.generation = 0
        self.open_slots = {}
        self.changed = threading.Condition()

    def adopt(self, sock):
        self.sock = sock
        threading.Thread(target=self._read, args=(sock,), daemon=True).start()

    def greet(self):
        self.sock.send(wire.hello(**self.hello))
        return self.wait_for(wire.READY)

    def _read(self, sock):
        with contextlib.suppress(OSError):
            while packet := sock.recv(4096):
                kind, fields = wire.decode(packet)
                with self.changed:
                    self.messages.append((time.monotonic(), kind, fields))
                    self.changed.notify_all()
                if kind == wire.ALLOW:
                    self._answer(sock, fields)

    def _answer(self, sock, fields):
        verdict = self.judge(fields)
        delay, errnum = verdict if isinstance(verdict, tuple) else (0, verdict)
        if errnum is None:
            return
        timer = threading.Timer(delay, self._send, (sock, wire.opened(fields["sequence"], errnum)))
        timer.daemon = True
        timer.start()

    @staticmethod
    def _send(sock, message):
        with contextlib.suppress(OSError):
            sock.send(message)

    def of_type(self, kind):
        with self.changed:
            return [fields for _, found, fields in self.messages if found == kind]

    def wait_for(self, kind, count=1, timeout=5):
        with self.changed:
            done = self.changed.wait_for(
                lambda: sum(found == kind for _, found, _ in self.messages) >= count, timeout)
            if not done:
                raise AssertionError(f"no message of type {kind} within {timeout} s")
        return self.of_type(kind)[-1]

    def open(self, slot=0, **options):
        self.generation += 1
        self.open_slots[slot] = self.generation
        self.sock.send(wire.opening(slot, self.generation, **options))
        return self.generation

    def close_slot(self, slot):
        self.sock.send(wire.closing(slot, self.open_slots.pop(slot)))

    def close(self):
        if self.sock:
            # Another thread reads: the end comes only by this.
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)
            self.sock.close()
            self.sock = None


class Resolver:
    """The program, with a jailer by a socketpair, or at a path where it finds one or not."""

    def __init__(self, *upstreams, path=None, hello=None, options=()):
        # Appended to: the program and this class share its position.
        self.log = tempfile.TemporaryFile("a+b")
        self.jailer = FakeJailer(**(hello or {}))
        theirs = None
        command = [program("sandboxrun-resolver"), "--metrics-address", METRICS]
        if path:
            command += ["--jailer-socket", path, "--port", "0"]
        else:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            command += ["--jailer-fd", str(theirs.fileno())]
        for upstream in upstreams:
            command += ["--upstream", upstream]
        self.process = subprocess.Popen(
            [*command, *options], pass_fds=[theirs.fileno()] if theirs else [], cwd="/",
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            # Of a process that can't be traced a sanitizer's search for leaks fails.
            env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"})  # fmt: skip
        self.port = None
        if theirs:
            theirs.close()
            self.jailer.adopt(ours)
            self.port = self.jailer.greet()["port"]

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(10)
        self.jailer.close()
        return status

    def log_text(self):
        self.log.seek(0)
        return self.log.read().decode()

    def lookups(self):
        """The log's lines about lookups, as dictionaries."""
        lines = (json.loads(line) for line in self.log_text().splitlines() if line.startswith("{"))
        return [line for line in lines if line["msg"] == "lookup"]

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def metrics(self):
        with urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=5) as response:
            lines = response.read().decode().splitlines()
        return {line.rsplit(" ", 1)[0].removeprefix("sandboxrun_resolver_"): float(line.rsplit(" ", 1)[1])
                for line in lines if not line.startswith("#")}


class Client:
    """A sandbox's socket: bound to the address of a slot, asking its gateway."""

    def __init__(self, port, slot=0, family=4, tcp=False, source=None):
        kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
        self.tcp = tcp
        self.sock = socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6, kind)
        self.sock.bind((source or sandbox_address(slot, family), 0))
        self.sock.settimeout(6)
        self.sock.connect((gateway_address(slot, family), port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, packet):
        self.sock.sendall(struct.pack("!H", len(packet)) + packet if self.tcp else packet)

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self.sock.recv(size - len(data))
            if not part:
                raise EOFError("closed")
            data += part
        return data

    def receive(self, timeout=6):
        self.sock.settimeout(timeout)
        if self.tcp:
            return wire.Reply(self._read(struct.unpack("!H", self._read(2))[0]))
        return wire.Reply(self.sock.recv(8192))


def is_sanitized():
    """Whether the program under test is a build whose memory says nothing."""
    ldd = shutil.which("ldd")
    done = subprocess.run([ldd, program("sandboxrun-resolver")], capture_output=True, text=True)
    return "asan" in done.stdout


class ResolverTest(unittest.TestCase):
    """A resolver with one upstream for each test class; a slot of its own for each test."""

    options = ()
    hello = {"forbidden": ["203.0.112.0/24", "2a02:6b8:7::/48"]}
    next_slot = 0

    @classmethod
    def setUpClass(cls):
        cls.upstream = Upstream()
        cls.addClassCleanup(cls.upstream.close)
        cls.resolver = Resolver(cls.upstream.text(), hello=cls.hello, options=cls.options)
        cls.addClassCleanup(cls.end_resolver)
        cls.jailer = cls.resolver.jailer

    @classmethod
    def end_resolver(cls):
        status = cls.resolver.close()
        if status != 0:
            raise AssertionError(f"the resolver ended with {status}: {cls.resolver.log_text()}")

    def setUp(self):
        self.upstream.forget()
        self.jailer.messages.clear()
        self.jailer.judge = lambda allow: 0
        self.slot = self.new_slot()

    @classmethod
    def new_slot(cls):
        cls.next_slot += 1
        return cls.next_slot - 1

    def _wait_for(self, slot, rcode):
        """A word of the jailer's and a query go different ways: the word must be first."""
        until = time.monotonic() + 5
        while self.ask("ready.test", "TXT", slot=slot).rcode != rcode:
            if time.monotonic() > until:
                raise AssertionError(f"slot {slot} does not become {rcode}")

    def open(self, slot=None, **options):
        slot = self.slot if slot is None else slot
        generation = self.jailer.open(slot, **options)
        self._wait_for(slot, "NOERROR")
        return generation

    def close_slot(self, slot=None):
        slot = self.slot if slot is None else slot
        self.jailer.close_slot(slot)
        self._wait_for(slot, "REFUSED")

    def ask_until_answered(self, name):
        """As a library does, since a datagram may be lost in a flood."""
        for _ in range(5):
            try:
                return self.ask(name, timeout=1)
            except TimeoutError:
                continue
        raise AssertionError(f"no reply about {name} to five queries")

    def ask(self, name, kind="A", tcp=False, family=4, timeout=6, slot=None, **options):
        slot = self.slot if slot is None else slot
        with Client(self.resolver.port, slot, family, tcp) as client:
            client.send(wire.query(name, kind, **options))
            return client.receive(timeout)

    def denied(self, count=1, timeout=2):
        """The names refused to this test's slot, in their order; waits until there are count."""

        def names():
            return [fields["name"] for fields in self.jailer.of_type(wire.DENIED)
                    if fields["slot"] == self.slot]

        until = time.monotonic() + timeout
        while len(names()) < count and time.monotonic() < until:
            time.sleep(0.01)
        return names()

    def line_about(self, name):
        """The log's last line about a name, which is written right after the reply."""
        until = time.monotonic() + 2
        while time.monotonic() < until:
            lines = [line for line in self.resolver.lookups() if line.get("name") == name]
            if lines:
                return lines[-1]
            time.sleep(0.01)
        raise AssertionError(f"no line about {name}: {self.resolver.log_text()}")
