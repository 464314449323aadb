# SPDX-License-Identifier: Apache-2.0
"""Refused system calls: each is answered as its policy says, counted by the jailer, named by the
agent, and never lets a program on."""

import errno
import json
import os
import platform
import pty
import select
import signal
import subprocess
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import processes_below, sandboxes_below
from helpers.deny import denying
from helpers.local import PATIENCE, RUNTIMES, document, need_root, program, run_status

PARENT = "sandboxrun-denied"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100200000")

MAX_NOTICES = 256
MAX_DENIED = protocol.MAX_DENIED

NUMBERS = {
    "x86_64": {"fcntl": 72, "init_module": 175, "ioctl": 16, "kexec_load": 246, "kill": 62,
               "mount": 165, "prctl": 157, "ptrace": 101, "reboot": 169, "socket": 41,
               "swapon": 167, "unshare": 272},
    "aarch64": {"fcntl": 25, "init_module": 105, "ioctl": 29, "kexec_load": 104, "kill": 129,
                "mount": 40, "prctl": 167, "ptrace": 117, "reboot": 142, "socket": 198,
                "swapon": 224, "unshare": 97},
}[platform.machine()]  # fmt: skip
NUMBERS |= {"bpf": 280 if platform.machine() == "aarch64" else 321, "io_uring_setup": 425,
            "none": 499}  # fmt: skip

SECCOMP_IOCTL_NOTIF_ID_VALID = 0x40082102
MSG_NOSIGNAL = 0x4000

# Of every program here: call(name, arguments...) is the errno of a raw system call.
CALL = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
numbers = {NUMBERS!r}
def call(name, *args):
    number = numbers.get(name, name)
    args = [ctypes.c_uint64(arg) for arg in args] + [ctypes.c_uint64(0)] * (6 - len(args))
    if libc.syscall(ctypes.c_long(number), *args) == -1:
        return ctypes.get_errno()
    return 0
"""

# What ordinary programs do. Nothing in it may come to the jailer's ears.
ORDINARY = """
import asyncio, ctypes, multiprocessing, os, shutil, sqlite3, ssl, subprocess, tempfile, threading
threads = [threading.Thread(target=print) for _ in range(10)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
subprocess.run(["sh", "-c", "cp -a /bin/sh /tmp/a; mv /tmp/a /tmp/b; ls -l /tmp | sort"])
os.popen("echo 1").read()
shutil.copytree("/usr/lib/sandboxrun", "/tmp/tree")
shutil.move("/tmp/tree", "/home/sandbox/tree")
with multiprocessing.get_context("spawn").Pool(2) as pool:
    pool.map(abs, [1, 2])
with tempfile.TemporaryDirectory() as directory:
    sqlite3.connect(directory + "/base").execute("create table t (x)")
async def start():
    await (await asyncio.create_subprocess_exec("true")).wait()
    await asyncio.to_thread(print)
asyncio.run(start())
ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)()
"""

LIBRARIES = """
import importlib
for name in ("numpy", "pandas", "scipy.stats", "matplotlib.pyplot", "requests"):
    try:
        importlib.import_module(name)
        print(name)
    except ImportError:
        pass
"""


def setUpModule():
    need_root()


def new_jailer(**options):
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, **options)


def denied_of(result):
    names = {number: name for name, number in NUMBERS.items()}
    return {names.get(number, number): count for number, count in result.finished["denied"]}


class DeniedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.jailer = cls.enterClassContext(new_jailer())

    def tearDown(self):
        self.assertEqual(sandboxes_below(PARENT), [])

    def run_code(self, code, end=protocol.END_EXITED, **options):
        result = self.jailer.run(CALL + code, **options)
        self.assertTrue(result.created, result)
        self.assertEqual(result.finished["end"], end, result)
        return result


class TestCounts(DeniedTest):
    def expect(self, code, denied, more=0):
        result = self.run_code(code)
        self.assertEqual(result.exit_code, 0, result.stderr)
        self.assertEqual(denied_of(result), denied)
        self.assertEqual(result.finished["denied_more"], more)
        return result

    def test_ordinary_programs_are_never_noticed(self):
        self.expect("print(1)", {})
        self.expect("if __name__ == '__main__':\n" + ORDINARY.replace("\n", "\n    "), {})
        self.expect(LIBRARIES, {})

    def test_each_answer_is_the_policys_own(self):
        high = 1 << 32
        cases = [
            (("ptrace",), errno.EPERM), (("io_uring_setup",), errno.EPERM),
            (("none",), errno.ENOSYS), ((-1,), errno.ENOSYS),
            (("socket", 2, 1), errno.EAFNOSUPPORT), (("socket", high | 2, 1), errno.EAFNOSUPPORT),
            (("kill", 1 << 30, 31), errno.EPERM), (("kill", 1 << 30, high | 31), errno.ENOSYS),
            (("prctl", 4, 1), errno.ENOSYS),
            (("ioctl", 0, 0x5412), errno.EPERM), (("ioctl", 0, 0x5414), errno.ENOSYS),
            (("fcntl", 1, 10, 31), errno.EPERM), (("fcntl", 1, 1026), errno.ENOSYS),
        ]  # fmt: skip
        result = self.expect(
            f"import json; print(json.dumps([call(*c) for c, _ in {cases!r}]))",
            {"ptrace": 1, "io_uring_setup": 1, "none": 1, -1: 1, "socket": 2, "kill": 2,
             "prctl": 1, "ioctl": 2, "fcntl": 2})  # fmt: skip
        self.assertEqual(json.loads(result.stdout), [answer for _, answer in cases])

    def test_what_is_expected_of_a_kernel_is_not_reported(self):
        clone3, netmem = 435, 237 if platform.machine() == "x86_64" else 235
        result = self.expect(f"print(call({clone3}), call({netmem}), call('socket', 10, 1))", {})
        self.assertEqual(result.stdout.split(), [str(n).encode() for n in (
            errno.ENOSYS, errno.ENOSYS, errno.EAFNOSUPPORT)])  # fmt: skip

    def test_of_threads(self):
        self.expect("""
import threading
wrong = []
def work(name):
    for _ in range(20):
        if call(name) != 1:
            wrong.append(name)
threads = [threading.Thread(target=work, args=(n,)) for n in ["ptrace", "bpf", "mount"] * 4]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not wrong
""", {"ptrace": 80, "bpf": 80, "mount": 80})  # fmt: skip

    def test_of_children_and_their_programs(self):
        self.expect("""
import subprocess, sys
read, write = os.pipe()
for _ in range(5):
    if os.fork() == 0:
        for _ in range(3):
            call("ptrace")
        os._exit(0)
for _ in range(5):
    os.wait()
subprocess.run([sys.executable, "-c", HEAD + "call('bpf')"], check=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        call("unshare", 0)
        os.write(write, b"1")
    os._exit(0)
os.wait()
os.read(read, 1)
""".replace("HEAD", repr(CALL)), {"ptrace": 15, "bpf": 1, "unshare": 1})  # fmt: skip

    def test_through_a_rain_of_signals(self):
        # One that comes before the jailer has received the call is EINTR, as for any slow call, and
        # then the call was not refused yet.
        result = self.run_code("""
import signal
hits = [0]
signal.signal(signal.SIGALRM, lambda *_: hits.__setitem__(0, hits[0] + 1))
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
answers = [call("ptrace") for _ in range(250)]
signal.setitimer(signal.ITIMER_REAL, 0)
print(hits[0], answers.count(1), answers.count(4))
""")
        hits, refused, interrupted = map(int, result.stdout.split())
        self.assertGreater(hits, 0)
        self.assertEqual(refused + interrupted, 250)
        self.assertEqual(denied_of(result), {"ptrace": refused})

    def test_no_more_are_told_apart_than_there_is_room_for(self):
        result = self.expect(f"for n in range(480, 480 + {MAX_DENIED} + 4):\n call(n); call(n)\n",
                             {480 + i if i != 19 else "none": 2 for i in range(MAX_DENIED)}, more=1)
        self.assertEqual(result.exit_code, 0)


class TestFlood(DeniedTest):
    def test_ends_in_enosys_and_a_lower_bound(self):
        result = self.run_code("""
answers = [call("ptrace") for _ in range(1000)]
print(answers.index(38), set(answers[:256]), set(answers[256:]))
""")
        self.assertEqual(result.stdout, b"256 {1} {38}\n")
        self.assertEqual(denied_of(result), {"ptrace": MAX_NOTICES})
        self.assertEqual(result.finished["denied_more"], 1)

    def test_of_threads_that_wait_when_the_listener_closes(self):
        result = self.run_code("""
import threading
answers = set()
def work():
    for _ in range(100):
        answers.add(call("ptrace"))
threads = [threading.Thread(target=work) for _ in range(30)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(answers))
""")
        self.assertEqual(result.stdout, b"[1, 38]\n")
        self.assertEqual(denied_of(result), {"ptrace": MAX_NOTICES})

    def test_does_not_move_a_neighbours_deadline(self):
        flood = (f"for _ in range(6): os.fork()\nfor _ in range({MAX_NOTICES}): call('ptrace')\n"
                 "os.write(1, b'x')\nwhile True: call('ptrace')")
        flooders = [self.start(flood) for _ in range(3)]
        neighbour, _ = self.start("while True: pass", timeout_ms=600)
        fields = self.last_word(neighbour)
        self.assertEqual(fields["end"], protocol.END_DEADLINE)
        self.assertLess(fields["wall_us"], 2_000_000 * PATIENCE)
        for sandbox, stdout in flooders:
            self.assertTrue(select.select([stdout], [], [], 20)[0])
            self.jailer.connection.send(protocol.KILL, id=sandbox)
            fields = self.last_word(sandbox)
            self.assertEqual(fields["end"], protocol.END_KILLED)
            self.assertEqual(fields["denied"], [(NUMBERS["ptrace"], MAX_NOTICES)])

    def start(self, code, timeout_ms=20000):
        sandbox = self.jailer.connection.create(memory=128 * protocol.MIB)
        kind, fields, fds = self.jailer.connection.receive_about(sandbox)
        self.assertEqual(kind, protocol.CREATED, fields)
        self.jailer.connection.send(protocol.START, id=sandbox, timeout_ms=timeout_ms)
        os.write(fds[0], protocol.encode_request(CALL + code))
        os.close(fds[0])
        for fd in fds[1:]:
            self.addCleanup(os.close, fd)
        return sandbox, fds[1]

    def last_word(self, sandbox):
        kind, fields, _ = self.jailer.connection.receive_about(sandbox, 20)
        self.assertEqual(kind, protocol.FINISHED, fields)
        return fields


class TestKillList(DeniedTest):
    def test_ends_the_run_and_is_named(self):
        for name in ("init_module", "kexec_load", "reboot", "swapon"):
            with self.subTest(name=name):
                result = self.run_code(
                    f"print('before', flush=True); call('ptrace'); call('{name}'); print('after')",
                    end=protocol.END_FORBIDDEN)
                self.assertEqual(result.stdout, b"before\n")
                self.assertEqual(result.finished["forbidden_call"], NUMBERS[name])
                self.assertEqual(denied_of(result), {"ptrace": 1, name: 1})
                self.assertLess(result.finished["wall_us"], 5_000_000 * PATIENCE)

    def test_of_a_thread_or_a_daemon_too(self):
        thread = "import threading; threading.Thread(target=call, args=('reboot',)).start()"
        daemon = "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0: call('reboot')\n os._exit(0)"
        for code in (thread, daemon):
            with self.subTest(code=code):
                result = self.run_code(code + "\nimport time; time.sleep(30); print('after')",
                                       end=protocol.END_FORBIDDEN)
                self.assertEqual(result.stdout, b"")
                self.assertEqual(denied_of(result), {"reboot": 1})

    def test_is_only_refused_behind_a_flood(self):
        result = self.run_code("[call('ptrace') for _ in range(300)]; print(call('reboot'))")
        self.assertEqual(result.stdout, b"%d\n" % errno.ENOSYS)

    def test_calls_of_other_architectures_die_unheard(self):
        if platform.machine() != "x86_64":
            self.skipTest("x32 is of x86-64")
        result = self.run_code(f"call(0x40000000 | {NUMBERS['ptrace']}); print('after')")
        self.assertEqual(result.exit_code, -signal.SIGSYS)
        self.assertEqual((result.stdout, denied_of(result)), (b"", {}))


class TestEnds(unittest.TestCase):
    """What becomes of a call that waits for its answer."""

    WAITING = CALL + "os.write(1, b'asking\\n'); call('ptrace'); os.write(1, b'answered\\n')\n"

    def ask(self, jailer, timeout_ms):
        """A sandbox whose call waits, since its jailer stands still; its id and streams."""
        sandbox = jailer.connection.create()
        kind, fields, fds = jailer.connection.receive_about(sandbox)
        self.assertEqual(kind, protocol.CREATED, fields)
        jailer.connection.send(protocol.START, id=sandbox, timeout_ms=timeout_ms)
        time.sleep(0.1)
        os.kill(jailer.process.pid, signal.SIGSTOP)
        os.write(fds[0], protocol.encode_request(self.WAITING + "import time; time.sleep(60)"))
        os.close(fds[0])
        self.assertTrue(select.select([fds[1]], [], [], 20)[0])
        self.assertEqual(os.read(fds[1], 64), b"asking\n")
        time.sleep(0.1)
        return sandbox, fds[1:]

    def test_the_deadline_comes_while_it_waits(self):
        with new_jailer() as jailer:
            sandbox, fds = self.ask(jailer, 500)
            time.sleep(0.6)
            os.kill(jailer.process.pid, signal.SIGCONT)
            kind, fields, _ = jailer.connection.receive_about(sandbox)
            self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_DEADLINE))
            self.assertLess(fields["wall_us"], 2_000_000 * PATIENCE)
            self.assertEqual(sandboxes_below(PARENT), [])
            for fd in fds:
                os.close(fd)
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")

    def test_the_jailer_dies_while_it_waits(self):
        with new_jailer() as jailer:
            _, fds = self.ask(jailer, 50000)
            self.assertGreater(len(processes_below(PARENT)), 0)
            began = time.monotonic()
            os.kill(jailer.process.pid, signal.SIGKILL)
            while processes_below(PARENT):
                self.assertLess(time.monotonic() - began, 5 * PATIENCE,
                                "it lives on without a jailer")
                time.sleep(0.005)
            for fd in fds:
                os.close(fd)
        with new_jailer():
            self.assertEqual(sandboxes_below(PARENT), [])


class TestListener(unittest.TestCase):
    def test_only_the_jailer_has_it(self):
        with new_jailer() as jailer:
            sandbox = jailer.connection.create()
            kind, fields, fds = jailer.connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.CREATED, fields)
            found = {pid: links_of(pid) for pid in {jailer.process.pid, *processes_below(PARENT)}}
            self.assertEqual(len(found), 3)
            for pid, links in found.items():
                listeners = [link for link in links if "seccomp" in link]
                self.assertEqual(len(listeners), int(pid == jailer.process.pid), links)
            for fd in fds:
                os.close(fd)

    def test_it_goes_with_the_run(self):
        with new_jailer() as jailer:
            for code in ("1", "call('ptrace')", "[call('ptrace') for _ in range(300)]",
                         "call('reboot')"):
                jailer.run(CALL + code)
            self.assertEqual([l for l in links_of(jailer.process.pid) if "seccomp" in l], [])

    def test_without_it_nothing_runs(self):
        # Sent by process 2 (the jailer's own sends have other flags), then tried by the jailer.
        for rule, text in ((f"sendmsg:2={MSG_NOSIGNAL}", "hand over"),
                           (f"sendmsg:2={MSG_NOSIGNAL}!0", "did not come"),
                           (f"ioctl:1={SECCOMP_IOCTL_NOTIF_ID_VALID:#x}", "listener")):
            with self.subTest(rule=rule), new_jailer(wrapper=denying(rule)) as jailer:
                result = jailer.run("print('ran')")
                self.assertFalse(result.created)
                self.assertEqual(result.refused["lock"], "seccomp", result.refused)
                self.assertIn(text, result.refused["text"])
                self.assertEqual(sandboxes_below(PARENT), [])


def links_of(pid):
    directory = f"/proc/{pid}/fd"
    return [os.readlink(os.path.join(directory, name)) for name in os.listdir(directory)]


class TestStatus(unittest.TestCase):
    """As people see it."""

    def test_names_and_counts(self):
        status = run_status(CALL + "call('ptrace'); call('io_uring_setup'); call('ptrace')\n"
                                   "call('none')")
        self.assertEqual(status["phase"], "Succeeded")
        self.assertEqual(status["denied"], [
            {"kind": "Syscall", "target": "ptrace", "count": 2},
            {"kind": "Syscall", "target": "io_uring_setup", "count": 1},
            {"kind": "Syscall", "target": "system call 499", "count": 1}])  # fmt: skip
        self.assertNotIn("lower bound", status["message"])

    def test_nothing_refused_nothing_said(self):
        self.assertNotIn("denied", run_status("print(1)"))

    def test_a_flood_says_that_there_was_more(self):
        status = run_status(CALL + "[call('ptrace') for _ in range(300)]")
        self.assertEqual(status["denied"][0]["count"], MAX_NOTICES)
        self.assertIn("lower bounds", status["message"])

    def test_a_forbidden_call(self):
        status = run_status(CALL + "call('kexec_load')")
        self.assertEqual((status["phase"], status["reason"], status["exitCode"]),
                         ("Failed", "ForbiddenSyscall", 159))
        self.assertRegex(status["message"], r"^killed after \d+\.\d s: .*\bkexec_load\b")
        self.assertEqual(status["denied"],
                         [{"kind": "Syscall", "target": "kexec_load", "count": 1}])

    def test_the_line_on_a_terminal(self):
        code = CALL + "call('ptrace'); call('ptrace'); call('bpf')"
        ours, theirs = pty.openpty()
        try:
            subprocess.run([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, "-"],
                           input=json.dumps(document(code)).encode(), stdout=subprocess.DEVNULL,
                           stderr=theirs, check=True, timeout=60)
            line = os.read(ours, 4096).decode()
        finally:
            os.close(ours)
            os.close(theirs)
        self.assertIn("; refused: ptrace 2 times, bpf", line)


if __name__ == "__main__":
    unittest.main()
