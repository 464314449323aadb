# SPDX-License-Identifier: Apache-2.0
"""The capabilities of the jailer's container: with exactly those everything works, and without any
of them something does not.

The jailer itself refuses to start without one. To see which the kernel asks for, a jailer is used
that believes it has them all (tests/jail/trusting).
"""

import os
import re
import signal
import socket
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers import slots
from helpers.local import BIN, ROOT, need_root
from helpers.pod import pod_cgroup

TRUSTING = os.path.join(BIN, "../tests/jail/jailer_trusting")
MANIFESTS = ("manifests/node-agent.yaml", "charts/sandboxrun/templates/node-agent.yaml")
OPTIONS = ("--cgroup-parent", "self", "--uid-base", "2200000000")
AGENT_UID = 65532

MEMORY_HOG = "held = []\nwhile True: held.append(bytearray(b'x' * (4 << 20)))"
FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""

CONNECT = f"""
import socket
peer = socket.create_connection(({slots.PUBLIC4!r}, 80), 5)
print(peer.recv(64).decode(), end="")
"""

# What goes wrong without it: the jailer's start, or a run; and the words of the error.
EXPECTED = {
    "SYS_ADMIN": ("start", "clone the mount of runtime"),
    "SYS_CHROOT": ("start", "own mount namespace"),
    "SETUID": ("user-namespace", "become uid"),
    "SETGID": ("user-namespace", "supplementary groups"),
    "SETPCAP": ("user-namespace", "keep the capabilities"),
    "KILL": ("deadline", "process 1 had to keep it"),
    "CHOWN": ("descriptors", "give a pipe to uid"),
    "MKNOD": ("start", "make /dev/null"),
    "NET_ADMIN": ("network", "the network's rules has ended"),
}

# Without these the jailer starts, and offers less.
OPTIONAL = ("NET_ADMIN",)


def setUpModule():
    need_root()


def listed(path):
    """The list `capabilities.add` of a manifest, of which there is one."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        (block,) = re.findall(r"(?m)^ +add:\n((?: +(?:#.*|- [A-Z_]+)\n)+)", file.read())
    return re.findall(r"- ([A-Z_]+)\n", block)


CAPABILITIES = listed(MANIFESTS[0])


def with_capabilities(names):
    bounding = ",".join(["-all", *(f"+{name.lower()}" for name in names)])
    return ("setpriv", f"--bounding-set={bounding}", "--inh-caps=-all", "--no-new-privs", "--")


class PodCase(unittest.TestCase):
    pods = 0

    @classmethod
    def setUpClass(cls):
        cls.world = cls.enterClassContext(slots.World())

    def jailer(self, capabilities, *options, binary=None, **kwargs):
        """In a container's cgroup of its own, which goes with the test, and in a network namespace
        of its own."""
        self.pods += 1
        enter = self.enterContext(pod_cgroup(
            f"sandboxrun-capabilities-{os.getpid()}-{self.pods}"))
        return slots.Jailer(self.world, *options, binary=binary, place=OPTIONS,
                            wrapper=(*enter, *with_capabilities(capabilities)), **kwargs)


class TestTheList(unittest.TestCase):
    def test_manifest_and_chart_have_the_same(self):
        for path in MANIFESTS:
            self.assertEqual(listed(path), CAPABILITIES)
        self.assertEqual(len(set(CAPABILITIES)), len(CAPABILITIES))

    def test_each_of_it_has_a_case_here(self):
        self.assertEqual(set(CAPABILITIES), set(EXPECTED))


class TestExactlyThese(PodCase):
    def test_runs_of_every_kind(self):
        with self.jailer(CAPABILITIES) as jailer:
            result = jailer.run("import sys; sys.stdout.write(sys.stdin.read())", stdin=b"hello")
            self.assertEqual((result.stdout, result.finished["end"], result.exit_code),
                             (b"hello", protocol.END_EXITED, 0))
            hog = jailer.run(MEMORY_HOG, memory=64 * protocol.MIB)
            self.assertEqual(hog.finished["end"], protocol.END_OOM)
            called = jailer.tool_call(CONNECT)
            self.assertEqual((called.stdout, called.stderr), (b"172.20.0.2", b""))
            bomb = jailer.run(FORK_BOMB, timeout_ms=1000)
            self.assertEqual(bomb.finished["end"], protocol.END_DEADLINE)
            status = self.status_of(jailer)
            self.assertEqual(bin(int(status["CapBnd"], 16)).count("1"), len(CAPABILITIES))
            self.assertEqual(status["CapEff"], status["CapBnd"])
            self.assertEqual(jailer.stop(), 0)

    def status_of(self, jailer):
        with open(f"/proc/{jailer.process.pid}/status", encoding="ascii") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)

    def connect(self, path):
        """As the agent, whose uid the kernel tells the jailer."""
        deadline = time.monotonic() + 10
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        os.seteuid(AGENT_UID)
        try:
            while True:
                try:
                    sock.connect(path)
                    return protocol.Connection(sock)
                except (FileNotFoundError, ConnectionRefusedError, PermissionError):
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
        finally:
            os.seteuid(0)

    def serve(self, directory, signum):
        path = os.path.join(directory, "jailer.sock")
        spool = os.path.join(directory, "spool")
        jailer = self.jailer(CAPABILITIES, "--spool-dir", spool)
        # Instead of the test's own uid the agent's.
        jailer._spawn(["--socket", path, "--peer-uid", str(AGENT_UID)])
        try:
            connection = self.connect(path)
            kind = None
            while kind != protocol.HELLO:
                kind, fields, _ = connection.receive(30)
                if kind == protocol.CHECK and fields["level"] == protocol.REQUIRED:
                    self.assertEqual(fields["outcome"], protocol.OK, fields)
            self.assertEqual(protocol.run(connection, "print(1)").stdout, b"1\n")
            owner = os.stat(spool)
            self.assertEqual((owner.st_uid, owner.st_mode & 0o777), (AGENT_UID, 0o700))
            connection.close()
        finally:
            jailer.process.send_signal(signum)
            jailer.process.wait(20)
        return path

    def test_a_socket_and_a_spool_that_an_earlier_jailer_left(self):
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)
            path = self.serve(directory, signal.SIGKILL)
            self.assertTrue(os.path.exists(path))
            self.serve(directory, signal.SIGTERM)
            self.assertFalse(os.path.exists(path))


class TestOneLess(PodCase):
    def test_the_jailer_does_not_start(self):
        for name in set(CAPABILITIES).difference(OPTIONAL):
            with self.subTest(without=name):
                rest = [other for other in CAPABILITIES if other != name]
                with self.assertRaisesRegex(RuntimeError, f"hasn't got them: CAP_{name}\\b"):
                    with self.jailer(rest):
                        self.fail("it started")

    def test_without_the_optional_ones_it_offers_less(self):
        rest = [name for name in CAPABILITIES if name not in OPTIONAL]
        with self.jailer(rest) as jailer:
            self.assertEqual(jailer.hello["profiles"], 1 << protocol.SNIPPET)
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            refused = jailer.tool_call(CONNECT).refused
            self.assertEqual(refused["lock"], "network")
            self.assertIn("CAP_NET_ADMIN", refused["text"])

    def outcome(self, capabilities):
        """(where, words) of what went wrong, or None."""
        jailer = self.jailer(capabilities, binary=TRUSTING)
        try:
            jailer.__enter__()
            result = jailer.run("while True: pass", timeout_ms=500, wait=10)
            if result.finished and result.finished["wall_us"] > 3_400_000:
                return "deadline", "timed out: process 1 had to keep it"
            if not result.refused:
                result = jailer.tool_call(CONNECT, wait=10)
            if result.refused:
                return result.refused["lock"], result.refused["text"]
            return None
        except RuntimeError as error:
            return "start", str(error)
        except TimeoutError as error:
            return "deadline", str(error)
        finally:
            # One that can't kill its sandboxes can't end them either; they end with it.
            jailer.stop(signal.SIGKILL)
            self.wait_for_the_end()

    def wait_for_the_end(self):
        """Of every process that has a sandbox's uid of this test."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            uids = set()
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    uids.add(os.stat(f"/proc/{pid}").st_uid)
                except OSError:
                    continue
            if not any(2200000000 <= uid < 2200065536 for uid in uids):
                return
            time.sleep(0.02)
        self.fail("a sandbox outlives its jailer")

    def test_with_all_of_them_nothing_goes_wrong(self):
        self.assertIsNone(self.outcome(CAPABILITIES))

    def test_without_any_one_of_them_something_does(self):
        for name in CAPABILITIES:
            with self.subTest(without=name):
                rest = [other for other in CAPABILITIES if other != name]
                where, words = self.outcome(rest)
                self.assertEqual(where, EXPECTED[name][0], words)
                self.assertIn(EXPECTED[name][1], words)


if __name__ == "__main__":
    unittest.main()
