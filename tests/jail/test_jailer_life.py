# SPDX-License-Identifier: Apache-2.0
"""What becomes of jails, of the jailer and of its agent when one of them ends, in the protocol's
own words."""

import contextlib
import errno
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import parent_is_gone, processes_below, sandboxes_below
from helpers.deny_asked import denying_asked
from helpers.jailer_process import READY_NETNS, children_of, descriptors_of
from helpers.local import PATIENCE, RUNTIMES, program
from helpers.wait import wait_until

PARENT = "sandboxrun-life"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100100000")

# Of which what is forked has less than a millisecond by itself.
BUSY = "import time\nwhile time.process_time() < 0.05:\n    pass\n"

FAMILY = """
import os, signal, time
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for fd in range(3):
            os.close(fd)
        time.sleep(600)
try:
    while True:
        os.wait()
except ChildProcessError:  # those in between are gone
    print("up", flush=True)
time.sleep(600)
"""


def new_jailer(*options, **kinds):
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, *options, **kinds)


def start_family(jailer, timeout_ms=50000):
    """A sandbox full of daemons; its id and the pipes' descriptors."""
    sandbox = jailer.connection.create()
    kind, fields, fds = jailer.connection.receive_about(sandbox)
    assert kind == protocol.CREATED, fields
    jailer.connection.send(protocol.START, id=sandbox, timeout_ms=timeout_ms)
    os.write(fds[0], protocol.encode_request(FAMILY))
    os.close(fds[0])
    os.set_blocking(fds[1], True)
    said = b""
    while not said.endswith(b"\n"):
        part = os.read(fds[1], 16)
        assert part, "it ended early"
        said += part
    assert said == b"up\n"
    return sandbox, fds[1:]


class TestEnds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.jailer = cls.enterClassContext(new_jailer())

    def tearDown(self):
        self.assertEqual(sandboxes_below(PARENT), [])

    def run_to(self, end, code, **options):
        result = self.jailer.run(code, **options)
        self.assertEqual(result.finished and result.finished["end"], end, result)
        return result

    def test_exit_code(self):
        result = self.run_to(protocol.END_EXITED, BUSY + "import sys; print(1); sys.exit(3)")
        self.assertEqual((result.exit_code, result.stdout), (3, b"1\n"))
        self.assertGreater(result.finished["cpu_us"], 20_000)
        # What is forked has little of its own.
        self.assertGreater(result.finished["peak_memory_bytes"], 1 << 18)

    def test_signal(self):
        result = self.run_to(protocol.END_EXITED, "import os; os.kill(os.getpid(), 15)")
        self.assertEqual(result.exit_code, -15)

    def test_deadline(self):
        timeout_ms = 700 * PATIENCE
        result = self.run_to(protocol.END_DEADLINE, FAMILY, timeout_ms=timeout_ms)
        self.assertEqual(result.stdout, b"up\n")
        self.assertGreaterEqual(result.finished["wall_us"], timeout_ms * 1000)
        self.assertLess(result.finished["wall_us"], 3_000_000 * PATIENCE)
        self.assertEqual(result.finished["timeout_ms"], timeout_ms)

    def test_the_deadline_holds_while_the_jailer_is_stopped(self):
        with new_jailer() as jailer:
            sandbox, fds = start_family(jailer, timeout_ms=3000)
            os.kill(jailer.process.pid, signal.SIGSTOP)
            try:
                wait_until("the processes to be gone", lambda: not processes_below(PARENT), 60)
            finally:
                os.kill(jailer.process.pid, signal.SIGCONT)
            # What it finds when it wakes is an end by the deadline, whoever kept that.
            kind, fields, _ = jailer.connection.receive_about(sandbox)
            self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_DEADLINE))
            for fd in fds:
                os.close(fd)

    def test_the_deadline_holds_for_a_jailer_that_is_stopped_before_the_start(self):
        with new_jailer() as jailer:
            sandbox = jailer.connection.create()
            kind, fields, fds = jailer.connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.CREATED, fields)
            os.kill(jailer.process.pid, signal.SIGSTOP)
            try:
                protocol.set_timer(jailer.connection.timer, 2.0)
                jailer.connection.send(protocol.START, id=sandbox, timeout_ms=1000)
                os.write(fds[0], protocol.encode_request(FAMILY))
                os.close(fds[0])
                # It runs all the same, until a call of it needs the jailer's answer.
                self.assertTrue(processes_below(PARENT))
                wait_until("the processes to be gone", lambda: not processes_below(PARENT), 60)
            finally:
                os.kill(jailer.process.pid, signal.SIGCONT)
            kind, fields, _ = jailer.connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.FINISHED, fields)
            for fd in fds[1:]:
                os.close(fd)

    def test_deadline_of_a_stopped_program(self):
        self.run_to(protocol.END_DEADLINE, "import os; os.kill(os.getpid(), 19)", timeout_ms=400)

    def test_out_of_memory(self):
        result = self.run_to(protocol.END_OOM, "held = []\nwhile True: held.append(b'x' * 10**7)",
                             memory=64 * protocol.MIB)
        self.assertGreater(result.finished["peak_memory_bytes"], 60 * protocol.MIB)
        self.assertLessEqual(result.finished["peak_memory_bytes"], 64 * protocol.MIB)

    def test_out_of_memory_in_a_child_ends_the_run(self):
        code = ("import os, time\nif os.fork() == 0:\n held = []\n"
                " while True: held.append(b'x' * 10**7)\nos.wait(); time.sleep(2); print('on')")
        result = self.run_to(protocol.END_OOM, code, memory=64 * protocol.MIB)
        self.assertEqual(result.stdout, b"")

    def test_kill_of_a_running_one(self):
        sandbox, fds = start_family(self.jailer)
        self.assertGreaterEqual(len(processes_below(PARENT)), 5)
        self.jailer.connection.send(protocol.KILL, id=sandbox)
        kind, fields, _ = self.jailer.connection.receive_about(sandbox)
        self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_KILLED))
        self.assertEqual(processes_below(PARENT), set())
        for fd in fds:
            self.assertEqual(os.read(fd, 1), b"")
            os.close(fd)

    def test_kill_of_one_in_the_making(self):
        sandbox = self.jailer.connection.create()
        self.jailer.connection.send(protocol.KILL, id=sandbox)
        kind, fields, fds = self.jailer.connection.receive_about(sandbox)
        if kind == protocol.CREATED:  # the jailer was faster
            kind, fields, _ = self.jailer.connection.receive_about(sandbox)
        self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_KILLED))
        for fd in fds:  # not before: a program that has waited would end at once
            os.close(fd)

    def test_one_that_is_never_started(self):
        sandbox = self.jailer.connection.create()
        _, _, fds = self.jailer.connection.receive_about(sandbox)
        before = time.monotonic()
        kind, fields, _ = self.jailer.connection.receive_about(
            sandbox, protocol.START_WITHIN_SECONDS + 5)
        self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_DEADLINE))
        self.assertGreater(time.monotonic() - before, protocol.START_WITHIN_SECONDS - 1)
        for fd in fds:
            os.close(fd)

    def test_death_of_process_one(self):
        sandbox, fds = start_family(self.jailer)
        reapers, = (pids for name, pids in children_of(self.jailer).items() if name == "reaper")
        os.kill(reapers[0], signal.SIGKILL)
        kind, fields, _ = self.jailer.connection.receive_about(sandbox)
        self.assertEqual((kind, fields["end"], fields["has_status"]),
                         (protocol.FINISHED, protocol.END_REAPER, 0))
        for fd in fds:
            os.close(fd)

    def test_timeout_above_the_ceiling(self):
        result = self.jailer.run("print('ran')", timeout_ms=60001)
        self.assertTrue(result.created)
        self.assertEqual(result.refused["lock"], "request", result)

    def test_a_start_that_is_read_after_its_instant(self):
        connection = self.jailer.connection
        now_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        for instant_ns, granted in ((now_ns - 1, False), (now_ns + 60 * 10**9, True)):
            sandbox = connection.create()
            kind, _, fds = connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.CREATED)
            connection.send(protocol.START, id=sandbox, timeout_ms=50000,
                            not_after_boottime_ns=instant_ns)
            if granted:
                connection.send(protocol.KILL, id=sandbox)
            kind, fields, _ = connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.FINISHED if granted else protocol.REFUSED, fields)
            if not granted:
                self.assertEqual((fields["lock"], fields["errnum"]), ("request", errno.ESTALE))
            for fd in fds:
                os.close(fd)

    def test_requests_that_are_not_granted(self):
        for options, lock, word in (({"profile": protocol.TOOL_CALL}, "network", "ToolCall"),
                                    ({"memory": 513 * protocol.MIB}, "request", "536870912"),
                                    ({"memory": 31 * protocol.MIB}, "request", "33554432"),
                                    ({"cpu": 1001}, "request", "1000"),
                                    ({"runtime": "none"}, "request", "none")):  # fmt: skip
            result = self.jailer.run("print('ran')", **options)
            self.assertFalse(result.created)
            self.assertEqual(result.refused["lock"], lock)
            self.assertIn(word, result.refused["text"])


class TestRoom(unittest.TestCase):
    def test_places(self):
        with new_jailer("--max-runs", "2") as jailer:
            self.assertEqual(jailer.hello["max_runs"], 2)
            first, fds = start_family(jailer)
            _, more = start_family(jailer)
            self.assertIn("2 places", jailer.run("1").refused["text"])
            jailer.connection.send(protocol.KILL, id=first)
            jailer.connection.receive_about(first)
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            for fd in (*fds, *more):
                os.close(fd)

    def test_memory(self):
        with new_jailer("--memory-capacity", "600Mi") as jailer:
            self.assertEqual(jailer.hello["memory_bytes"], 600 * protocol.MIB)
            _, fds = start_family(jailer)
            self.assertIn("memory", jailer.run("1").refused["text"])
            self.assertEqual(jailer.run("print(1)", memory=64 * protocol.MIB).stdout, b"1\n")
            for fd in fds:
                os.close(fd)


NAMESPACES = """
import json, os
kinds = ("net", "ipc", "uts", "cgroup", "mnt", "pid", "user")
print(json.dumps([os.readlink(f"/proc/self/ns/{kind}") for kind in kinds]
                 + [open("/proc/self/uid_map").read().split()[1]]), flush=True)
import time
time.sleep(600)
"""


class TestNamespaces(unittest.TestCase):
    def start(self, jailer):
        sandbox = jailer.connection.create(memory=64 * protocol.MIB)
        kind, fields, fds = jailer.connection.receive_about(sandbox)
        self.assertEqual(kind, protocol.CREATED, fields)
        jailer.connection.send(protocol.START, id=sandbox, timeout_ms=50000)
        os.write(fds[0], protocol.encode_request(NAMESPACES))
        os.close(fds[0])
        os.close(fds[2])
        os.set_blocking(fds[1], True)
        with open(fds[1], encoding="utf-8") as output:
            return json.loads(output.readline())

    def test_no_two_live_sandboxes_share_one(self):
        # More than are made ahead, and long enough for some to come from there.
        with new_jailer() as jailer:
            seen = []
            for _ in range(4):
                seen += [self.start(jailer) for _ in range(3)]
                time.sleep(0.1)
            for column in zip(*seen, strict=True):
                self.assertEqual(len(set(column)), len(seen), column)

    def test_without_the_helper_that_makes_network_namespaces(self):
        with new_jailer() as jailer:
            for _ in range(2):
                self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            wait_until("the helper", lambda: "netns" in children_of(jailer))
            os.kill(children_of(jailer)["netns"][0], signal.SIGKILL)
            wait_until("the helper to be gone", lambda: "netns" not in children_of(jailer))
            for _ in range(8):
                result = jailer.run("import socket, os\nprint(os.listdir('/proc/self/ns'))")
                self.assertEqual(result.finished["end"], protocol.END_EXITED)
            self.assertIn("helper ended", jailer.log_text())


class TestBreaches(unittest.TestCase):
    """Each ends the connection and every sandbox made for it; the next agent is served."""

    @classmethod
    def setUpClass(cls):
        cls.jailer = cls.enterClassContext(new_jailer(socket=True))

    def check(self, breach):
        connection = self.jailer.connect()
        _, fds = start_family(self.jailer)
        breach(connection)
        with self.assertRaises(protocol.ConnectionEnded):
            while True:
                connection.receive(10)
        wait_until("the sandboxes to be gone", lambda: not sandboxes_below(PARENT))
        for fd in fds:
            os.close(fd)
        connection.close()
        self.jailer.connect()
        self.assertEqual(self.jailer.run("print('still here')").stdout, b"still here\n")
        self.jailer.connection.close()

    def test_garbage(self):
        self.check(lambda connection: connection.send_raw(b"\0" * 20))

    def test_oversized(self):
        self.check(lambda connection: connection.send_raw(b"\0" * (protocol.MAX_MESSAGE + 1)))

    def test_descriptors(self):
        self.check(lambda connection: connection.send_raw(
            protocol.encode(protocol.KILL, id=protocol.new_id()), [0, 1, 2]))

    def test_a_word_of_the_jailers(self):
        self.check(lambda connection: connection.send(
            protocol.FINISHED, id=protocol.new_id(), end=protocol.END_EXITED))

    def test_path_as_an_id(self):
        self.check(lambda connection: connection.send(
            protocol.CREATE, id="../../../../../../../tmp/escape-abcd", profile=0,
            runtime="python3.12", cpu_milli=1000, memory_bytes=64 * protocol.MIB))

    def test_path_as_a_runtime(self):
        self.check(lambda connection: connection.create(runtime="../python3.12"))

    def test_the_same_id_again(self):
        def breach(connection):
            connection.create(connection.create())

        self.check(breach)

    def test_start_before_created(self):
        def breach(connection):
            # In one turn of the loop, before the jail can be sealed.
            connection.send(protocol.START, id=connection.create(), timeout_ms=1000)

        self.check(breach)

    def test_no_word_at_all(self):
        self.check(lambda connection: connection.sock.shutdown(socket.SHUT_WR))


class TestPeer(unittest.TestCase):
    def test_only_the_agents_uid_is_served(self):
        with new_jailer(socket=True) as jailer:
            jailer.connect()
            self.assertEqual(os.stat(jailer.path).st_mode & 0o777, 0o660)
            jailer.connection.close()
            os.chmod(jailer.path, 0o666)
            os.chmod(jailer.directory.name, 0o755)
            # Python itself may lie where only root can read: the connecting is done by the shell's.
            connect = ("import socket, sys, os; os.setuid(65534)\n"
                       "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                       "s.connect(sys.argv[1]); print(len(s.recv(4096)))")
            done = subprocess.run(["python3", "-c", connect, jailer.path], capture_output=True,
                                  text=True, check=True)
            self.assertEqual(done.stdout, "0\n")
            self.assertIn("uid 65534", jailer.log_text())
            jailer.connect()
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")


class TestDeaths(unittest.TestCase):
    def tearDown(self):
        wait_until("the processes to be gone", lambda: not processes_below(PARENT))

    def test_of_the_agent(self):
        with new_jailer() as jailer:
            _, fds = start_family(jailer)
            jailer.connection.close()
            self.assertEqual(jailer.process.wait(20), 0)
            self.assertTrue(parent_is_gone(PARENT))
            for fd in fds:
                os.close(fd)

    def test_of_the_jailer_by_sigterm(self):
        with new_jailer() as jailer:
            sandbox, fds = start_family(jailer)
            jailer.process.send_signal(signal.SIGTERM)
            kind, fields, _ = jailer.connection.receive_about(sandbox)
            self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_SHUTDOWN))
            self.assertEqual(jailer.process.wait(20), 0)
            self.assertTrue(parent_is_gone(PARENT))
            for fd in fds:
                os.close(fd)

    def test_of_the_jailer_by_sigkill_and_what_the_next_one_does(self):
        with new_jailer() as jailer:
            families = [start_family(jailer) for _ in range(3)]
            self.assertGreaterEqual(len(processes_below(PARENT)), 15)
            jailer.process.kill()
            wait_until("the processes to be gone", lambda: not processes_below(PARENT), 5)
            self.assertEqual(len({os.path.basename(path) for path in sandboxes_below(PARENT)}), 3)
            with new_jailer() as following:
                self.assertEqual(sandboxes_below(PARENT), [])
                self.assertIn("swept", following.log_text())
                self.assertEqual(following.run("print(1)").stdout, b"1\n")
            for _, fds in families:
                for fd in fds:
                    os.close(fd)
        self.assertTrue(parent_is_gone(PARENT))

    def test_one_that_starts_as_the_last_one_ends(self):
        """Which removes the cgroup that all have in common, in any hierarchy: it is made again."""
        bases = f"/sys/fs/cgroup/{PARENT} /sys/fs/cgroup/*/{PARENT}"
        with new_jailer() as jailer:
            hierarchies = len(sandboxes_below(PARENT, depth=1))
        for number in range(1, hierarchies + 1):
            wrapper = denying_asked("mkdirat", file="jailer-0", since=number,
                                    meanwhile=f"rmdir {bases} 2>/dev/null")
            with self.subTest(number), new_jailer(wrapper=wrapper) as jailer:
                self.assertEqual({os.path.basename(path) for path in
                                  sandboxes_below(PARENT, depth=1)}, {"jailer-0"})
                self.assertEqual(len(sandboxes_below(PARENT, depth=1)), hierarchies)
                self.assertEqual(jailer.stop(), 0)
            self.assertTrue(parent_is_gone(PARENT))

    def test_neighbours_do_not_sweep_each_other(self):
        with new_jailer() as one, new_jailer() as other:
            _, fds = start_family(one)
            before = processes_below(PARENT)
            maps = [jailer.run("print(open('/proc/self/uid_map').read().split()[1])").stdout
                    for jailer in (one, other)]
            self.assertNotEqual(*maps)
            other.stop()
            self.assertEqual(processes_below(PARENT), before)
            for fd in fds:
                os.close(fd)


class TestLeaks(unittest.TestCase):
    """After a thousand runs, ended in every way, everything is as it was before. On a machine that
    is too slow for that many, fewer do."""

    RUNS, MIN_RUNS, ENOUGH_SECONDS = 1000, 100, 40

    def state(self, jailer):
        pid = jailer.process.pid
        with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as mounts:
            return {"descriptors": len(descriptors_of(jailer)[0]),
                    "mounts": len(mounts.readlines()), "children": children_of(jailer),
                    "cgroups": sandboxes_below(PARENT)}

    def settled(self, jailer):
        """The state once the namespaces that are made ahead are all there."""
        wait_until("the namespaces", lambda: descriptors_of(jailer)[1] == READY_NETNS)
        return self.state(jailer)

    def one(self, connection, way):
        sandbox = connection.create(memory=64 * protocol.MIB)
        if way == 0:
            connection.send(protocol.KILL, id=sandbox)
        kind, _, fds = connection.receive_about(sandbox)
        if kind == protocol.CREATED:
            if way == 1:
                connection.send(protocol.KILL, id=sandbox)
            elif way > 1:
                connection.send(protocol.START, id=sandbox, timeout_ms=1 if way == 2 else 5000)
            for fd in fds:
                os.close(fd)
            kind, _, _ = connection.receive_about(sandbox)
        self.assertEqual(kind, protocol.FINISHED)

    def test_nothing_leaks(self):
        with new_jailer() as jailer:
            for way in range(4):
                self.one(jailer.connection, way)
            before = self.settled(jailer)
            resident = self.resident_kib(jailer)
            enough = time.monotonic() + self.ENOUGH_SECONDS
            for number in range(self.RUNS):
                self.one(jailer.connection, random.Random(number).randrange(4))
                if number >= self.MIN_RUNS and time.monotonic() > enough:
                    break
            self.assertEqual(self.settled(jailer), before)
            self.assertLess(self.resident_kib(jailer), resident + 256)

    def resident_kib(self, jailer):
        with open(f"/proc/{jailer.process.pid}/status", encoding="ascii") as status:
            return int(next(line.split()[1] for line in status if line.startswith("VmRSS")))


class TestStart(unittest.TestCase):
    """What is missing is said in one line."""

    def start(self, *options, status=1, runtimes=RUNTIMES, wrapper=()):
        command = [*wrapper, program("sandboxrun-jailer"), "--runtimes-dir", runtimes, *OPTIONS,
                   "--log-format", "text", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def listen(self, *options, **more):
        return self.start("--socket", "/nonexistent/jailer.sock", "--peer-uid", "0", *options,
                          **more)

    def test_usage(self):
        self.assertIn("--socket or --fd", self.start(status=2))
        self.assertIn("--peer-uid", self.start("--socket", "/x", status=2))

    def test_no_runtime(self):
        self.assertIn("/nonexistent", self.listen(runtimes="/nonexistent"))
        self.assertIn("0 usable in /usr/share", self.listen(runtimes="/usr/share"))

    def test_no_directory_for_the_socket(self):
        self.assertIn("/nonexistent", self.listen())
        self.assertTrue(parent_is_gone(PARENT))

    def test_no_root(self):
        with contextlib.ExitStack() as stack:
            # The binary may lie where only root can go.
            directory = stack.enter_context(tempfile.TemporaryDirectory())
            os.chmod(directory, 0o755)
            copy = shutil.copy(program("sandboxrun-jailer"), directory)
            done = subprocess.run(
                ["setpriv", "--reuid", "65534", "--clear-groups", copy, "--socket", "/x",
                 "--peer-uid", "0", "--runtimes-dir", "/", "--log-format", "text"],
                capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("root", done.stderr)

    def test_a_missing_capability_is_named(self):
        for name in ("sys_admin", "kill", "setuid", "setgid", "setpcap", "sys_chroot", "mknod",
                     "chown", "dac_override"):
            text = self.listen(wrapper=("setpriv", "--bounding-set", f"-{name}",
                                        "--inh-caps", f"-{name}"))
            self.assertIn(f"CAP_{name.upper()}", text)

    def test_uids_that_belong_to_others(self):
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(tempfile.NamedTemporaryFile("w"))
            file.write("alice:2100050000:65536\n")
            file.flush()
            mount = f'touch /etc/subuid; mount --bind {file.name} /etc/subuid; exec "$@"'
            had = os.path.exists("/etc/subuid")
            text = self.listen("--uid-base", "2100000000", wrapper=(
                "unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh"))
            if not had:
                os.unlink("/etc/subuid")
        self.assertIn("alice", text)


if __name__ == "__main__":
    unittest.main()
