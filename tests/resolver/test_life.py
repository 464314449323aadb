# SPDX-License-Identifier: Apache-2.0
"""Start, privileges, the jailer that comes and goes, the end."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import rig
import upstream
import wire
from helpers.local import program


def setUpModule():
    rig.enter_network()


class TestPrivileges(rig.ResolverTest):
    def status(self):
        with open(f"/proc/{self.resolver.process.pid}/status") as file:
            return dict(line.split(":", 1) for line in file)

    def test_nothing_is_left_of_root(self):
        status = self.status()
        self.assertEqual(status["Uid"].split(), ["65533"] * 4)
        self.assertEqual(status["Gid"].split(), ["65533"] * 4)
        self.assertEqual(status["Groups"].split(), [])
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual(status["NoNewPrivs"].split(), ["1"])
        self.assertEqual(status["Threads"].split(), ["1"])

    def test_limits_and_place(self):
        pid = self.resolver.process.pid
        with open(f"/proc/{pid}/limits") as file:
            limits = {line[:25].strip(): line[25:].split()[:2] for line in file}
        self.assertEqual(limits["Max core file size"], ["0", "0"])
        self.assertEqual(limits["Max processes"], ["0", "0"])
        self.assertEqual(limits["Max open files"], ["4736", "4736"])
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), "/")
        # Not dumpable: its files in /proc are root's.
        self.assertEqual(os.stat(f"/proc/{pid}/environ").st_uid, 0)

    def test_descriptors_are_its_own(self):
        pid = self.resolver.process.pid
        for fd in os.listdir(f"/proc/{pid}/fd"):
            if int(fd) < 3:
                continue
            with open(f"/proc/{pid}/fdinfo/{fd}") as file:
                flags = int(dict(line.split(":\t") for line in file if line.startswith("flags"))["flags"], 8)
            self.assertTrue(flags & os.O_CLOEXEC, os.readlink(f"/proc/{pid}/fd/{fd}"))

    def test_health_and_metrics(self):
        for path, wanted in (("healthz", b"ok\n"), ("readyz", b"ok\n")):
            with urllib.request.urlopen(f"http://{rig.METRICS}/{path}", timeout=5) as response:
                self.assertEqual(response.read(), wanted)
        self.open()
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34", "10.0.0.1")
        before = self.resolver.metrics()
        self.ask("www.example.com")
        self.ask("www.example.com")
        self.ask("www.example.com", "TXT")
        after = self.resolver.metrics()
        grown = {name: after[name] - before[name] for name in after if after[name] != before.get(name)}
        self.assertEqual(grown['queries_total{outcome="answered"}'], 2)
        self.assertEqual(grown['queries_total{outcome="type_refused"}'], 1)
        self.assertEqual(grown["cache_hits_total"], 1)
        self.assertEqual(grown["upstream_seconds_count"], 1)
        self.assertEqual(grown['addresses_total{verdict="forbidden"}'], 1)
        self.assertEqual((after["jailer_connected"], after["lookups"]), (1, 0))
        self.close_slot()
        self.assertEqual(self.resolver.metrics()["open_slots"], after["open_slots"] - 1)

    def test_a_line_for_each_decision(self):
        self.open()
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
        self.ask("www.example.com")
        line = self.line_about("www.example.com")
        self.assertEqual({key: line[key] for key in ("level", "component", "slot", "outcome", "type", "via", "addresses",
                                                     "forbidden", "cached")},
                         {"level": "info", "component": "resolver", "slot": self.slot, "outcome": "answered",
                          "type": "A", "via": "udp", "addresses": 1, "forbidden": 0, "cached": 0})
        self.assertRegex(line["sandbox"], r"^[0-9a-f-]{36}$")
        self.assertGreaterEqual(line["ms"], 0)


class Listener:
    """A jailer's socket at a path; each connection it takes is a new jailer."""

    def __init__(self, path):
        self.path = path
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.bind(path)
        os.chmod(path, 0o777)
        self.sock.listen(8)

    def accept(self, **hello):
        self.sock.settimeout(5)
        connection, _ = self.sock.accept()
        self.peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        jailer = rig.FakeJailer(**hello)
        jailer.adopt(connection)
        return jailer

    def close(self):
        self.sock.close()
        os.unlink(self.path)


class TestJailer(unittest.TestCase):
    """By a path, as in the Pod: the jailer may come later, go, and come back."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        os.chmod(self.directory.name, 0o755)
        self.path = os.path.join(self.directory.name, "resolver.sock")
        self.upstream = upstream.Upstream()
        self.addCleanup(self.upstream.close)
        self.upstream.script["www.example.com"] = upstream.addresses("93.184.216.34")
        self.resolver = rig.Resolver(self.upstream.text(), path=self.path)
        self.addCleanup(self.resolver.close)

    def listen(self):
        listener = Listener(self.path)
        self.addCleanup(lambda: listener.sock.close())
        return listener

    def greet(self, jailer):
        self.addCleanup(jailer.close)
        self.resolver.port = jailer.greet()["port"]

    def ask(self, slot=0, name="www.example.com"):
        with rig.Client(self.resolver.port, slot) as client:
            client.send(wire.query(name))
            return client.receive(5)

    def readyz(self):
        try:
            with urllib.request.urlopen(f"http://{rig.METRICS}/readyz", timeout=5) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    def until(self, condition, timeout=5):
        end = time.monotonic() + timeout
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_comes_later_goes_and_comes_back(self):
        time.sleep(0.3)
        self.assertEqual(self.readyz(), 503)
        listener = self.listen()
        jailer = listener.accept()
        self.assertEqual(int.from_bytes(listener.peer[4:8], "little"), 65533)
        self.greet(jailer)
        self.assertEqual(self.readyz(), 200)
        jailer.open(0, sandbox="01234567-89ab-cdef-0123-456789abcdef")
        self.until(lambda: self.ask().rcode == "NOERROR")

        # A lookup that is under way is told at once; all others are refused.
        self.upstream.script["slow.example.com"] = upstream.silence
        with rig.Client(self.resolver.port) as client:
            client.send(wire.query("slow.example.com"))
            self.until(lambda: any(asked.name == "slow.example.com" for asked in self.upstream.asked))
            jailer.close()
            self.assertEqual(client.receive(1).rcode, "REFUSED")
        self.assertEqual(self.ask().rcode, "REFUSED")
        self.assertEqual(self.resolver.lookups()[-1]["outcome"], "no_jailer")
        self.assertEqual(self.readyz(), 503)

        again = listener.accept()
        port = self.resolver.port
        self.greet(again)
        self.assertEqual(self.resolver.port, port)
        self.assertEqual(self.ask().rcode, "REFUSED")
        again.open(0, sandbox="01234567-89ab-cdef-0123-456789abcdef")
        self.until(lambda: self.ask().rcode == "NOERROR")
        self.assertEqual(self.resolver.metrics()["jailer_connections_total"], 2)

    def test_a_jailer_that_leaves_at_once_is_not_called_upon_without_end(self):
        """Each time after the greeting: up to twice as long as before, of which up to a half less."""
        listener = self.listen()
        gaps = []
        for _ in range(7):
            began = time.monotonic()
            jailer = listener.accept()
            gaps.append(time.monotonic() - began)
            self.greet(jailer)
            jailer.close()
        # Only what is too soon: a busy machine makes gaps longer.
        for gap, least in zip(gaps[1:], (0.05, 0.1, 0.2, 0.4, 0.8, 1.0), strict=True):
            self.assertGreater(gap, least * 0.9, gaps)
        # And it goes on being called upon.
        self.greet(listener.accept())

    def test_words_out_of_turn_end_the_connection(self):
        listener = self.listen()
        hello = wire.hello(rig.RANGE4, rig.RANGE6)
        cases = {
            "open before hello": [wire.opening(0, 1)],
            "hello twice": [hello, hello],
            "open twice": [hello, wire.opening(0, 1), wire.opening(0, 2)],
            "a slot beyond": [wire.hello(rig.RANGE4, rig.RANGE6, slots=4), wire.opening(4, 1)],
            "a word of the resolver's": [hello, wire._message(wire.READY, b"\1\0\0\0\1\0\0\0")],
            "another version": [wire.hello(rig.RANGE4, rig.RANGE6, version=2)],
            "nonsense": [b"nonsense"],
            "too long": [hello + bytes(8000)],
            "an odd range": [wire.hello("198.19.192.1", rig.RANGE6)],
            "a bad prefix": [hello[:40] + b"\4\x21" + hello[42:]],
        }
        for what, words in cases.items():
            with self.subTest(what):
                listener.sock.settimeout(5)
                connection, _ = listener.sock.accept()
                with connection:
                    connection.settimeout(5)
                    with contextlib.suppress(BrokenPipeError):
                        for word in words:
                            connection.send(word)
                    while connection.recv(4096):
                        pass
        jailer = listener.accept()
        self.greet(jailer)
        jailer.open(0)
        self.until(lambda: self.ask().rcode == "NOERROR")

    def test_told_to_end_it_stays_for_the_sandboxes_that_are_there(self):
        for last in ("slot", "jailer"):
            with self.subTest(last):
                listener = self.listen()
                jailer = listener.accept()
                self.greet(jailer)
                jailer.open(0)
                jailer.open(1)
                self.until(lambda: self.ask().rcode == "NOERROR")
                for times in 1, 2:
                    self.resolver.process.send_signal(signal.SIGTERM)
                    self.until(lambda: self.resolver.log_text().count("ending on a signal") == times)
                self.assertIn('"openSlots":2', self.resolver.log_text())
                jailer.close_slot(1)
                self.assertEqual(self.ask().rcode, "NOERROR")
                self.assertIsNone(self.resolver.process.poll())
                jailer.close_slot(0) if last == "slot" else jailer.close()
                self.assertEqual(self.resolver.process.wait(10), 0)
                listener.close()
                self.resolver = rig.Resolver(self.upstream.text(), path=self.path)
                self.addCleanup(self.resolver.close)

    def test_a_gateway_that_is_taken(self):
        """No slot is served then: the jailer gets no word that we are ready, and hears it later."""
        listener = self.listen()
        jailer = listener.accept()
        self.greet(jailer)
        jailer.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.5.0", self.resolver.port))
            again = listener.accept(range4="127.0.5.0", slots=4)
            again.sock.send(wire.hello(**again.hello))
            with self.assertRaises(AssertionError):
                again.wait_for(wire.READY, timeout=0.5)
            again.close()
        last = listener.accept(range4="127.0.5.0", slots=4)
        self.greet(last)

    def test_a_jailer_that_says_nothing(self):
        listener = self.listen()
        listener.sock.settimeout(5)
        connection, _ = listener.sock.accept()
        begin = time.monotonic()
        connection.settimeout(8)
        self.assertEqual(connection.recv(100), b"")
        self.assertGreater(time.monotonic() - begin, 4)
        connection.close()
        self.greet(listener.accept())

    def test_a_connection_lost_is_no_new_budget(self):
        listener = self.listen()
        jailer = listener.accept()
        self.greet(jailer)
        sandbox = "01234567-89ab-cdef-0123-456789abcdef"
        jailer.open(0, sandbox=sandbox)
        label = "a" * 60
        self.until(lambda: self.ask().rcode == "NOERROR")
        codes = [self.ask(name=f"{label}.{label}.{label}.{index}.test").rcode for index in range(30)]
        self.assertIn("REFUSED", codes)
        jailer.close()
        again = listener.accept()
        self.greet(again)
        again.open(0, sandbox=sandbox)
        self.until(lambda: self.ask().rcode == "NOERROR")
        self.assertEqual(self.ask(name=f"{label}.{label}.{label}.99.test").rcode, "REFUSED")


class TestProgram(unittest.TestCase):
    def run_program(self, *options, **kwargs):
        return subprocess.run([program("sandboxrun-resolver"), *options], capture_output=True, text=True, timeout=20,
                              env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}, **kwargs)

    def test_ends_with_its_jailer(self):
        for how in ("socket", signal.SIGTERM, signal.SIGINT):
            with self.subTest(how):
                resolver = rig.Resolver("127.0.0.1:5300")
                if how == "socket":
                    resolver.jailer.close()
                else:
                    resolver.process.send_signal(how)
                self.assertEqual(resolver.process.wait(5), 0, resolver.log_text())
                # Nothing is wrong, and whoever sits at a terminal is told nothing.
                self.assertNotIn('"level":"warn"', resolver.log_text())
                resolver.jailer.close()

    def test_usage(self):
        cases = {
            (): "--jailer-socket", ("--jailer-socket", "/x", "--jailer-fd", "3"): "either",
            ("--jailer-fd", "1"): "--jailer-fd", ("--jailer-fd", "x"): "--jailer-fd",
            ("--jailer-socket", "/x", "--port", "65536"): "--port",
            ("--jailer-socket", "/x", "--upstream", "dns.example.org"): "--upstream",
            ("--jailer-socket", "/x", *("--upstream", "1.2.3.4") * 9): "more than 8",
            ("--jailer-socket", "/x", "--log-level", "loud"): "--log-level",
            ("--jailer-socket", "/x", "--log-format", "xml"): "--log-format",
            ("--jailer-socket", "/x", "extra"): "extra", ("--nonsense",): "--nonsense",
            ("--jailer-socket",): "needs a value",
        }
        for options, words in cases.items():
            with self.subTest(options):
                done = self.run_program(*options)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_help_and_version(self):
        done = self.run_program("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--jailer-socket", "--jailer-fd", "--port", "--upstream", "--metrics-address", "--log-level",
                       "--log-format"):
            self.assertIn(option, done.stdout)
        self.assertIn("bytes a second", done.stdout)
        self.assertRegex(self.run_program("--version").stdout, r"^sandboxrun-resolver \d")

    def test_what_is_missing_is_named(self):
        cases = {
            ("--jailer-fd", "99"): "--jailer-fd 99",
            ("--jailer-socket", "/" + "x" * 200): "a socket's path",
            ("--jailer-socket", "/x", "--metrics-address", "nowhere"): "nowhere",
        }
        for options, words in cases.items():
            with self.subTest(options):
                done = self.run_program(*options, "--upstream", "1.2.3.4")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(words, done.stderr)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
            taken.bind(("", 5399))
            taken.listen()
            done = self.run_program("--jailer-socket", "/x", "--upstream", "1.2.3.4", "--port", "5399")
            self.assertEqual(done.returncode, 1)
            self.assertIn("5399", done.stderr)
