# SPDX-License-Identifier: Apache-2.0
"""Attacks on the jail, from inside and from around it, each with the answer that it must get.

Programs of one table run in one call, several at a time. What a program does to its neighbours is
measured by a neighbour: it must keep its memory and get some of its CPU. Figures are generous,
since the machine may be busy with other things.
"""

import contextlib
import errno
import json
import os
import random
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.leftovers import Watch
from helpers.local import (RUNTIMES, document, need_root, program, run_json, run_status,
                           sandboxrun)

MIB = 1 << 20
X86 = os.uname().machine == "x86_64"


def setUpModule():
    need_root()


def run_all(documents, parallel=4):
    """Status by name of each document, all run by one call."""
    done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "-o", "json", "--parallel", str(parallel),
                      "-", input="\n---\n".join(map(json.dumps, documents)))
    found = json.loads(done.stdout)
    items = found.get("items", [found])
    return {item["metadata"]["name"]: item["status"] for item in items}


# ---- what the kernel is asked for, and its answer

# Numbers on x86-64 and arm64.
CALLS = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "mount_setattr": (442, 442), "ptrace": (101, 117), "kcmp": (312, 272),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "fanotify_init": (300, 262), "seccomp": (317, 277),
    "personality": (135, 92), "syslog": (103, 116), "acct": (163, 89), "quotactl": (179, 60),
    "sethostname": (170, 161), "setdomainname": (171, 162), "sync": (162, 81), "syncfs": (306, 267),
    "setuid": (105, 146), "setresuid": (117, 147), "setgroups": (116, 159), "capset": (126, 91),
    "fchownat": (260, 54), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "tkill": (200, 130),
    "clock_settime": (227, 112), "settimeofday": (164, 170),
}
ABSENT = {
    "clone3": (435, 435), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "execveat": (322, 281), "openat2": (437, 437), "mq_open": (240, 180), "shmget": (29, 194),
    "semget": (64, 190), "msgget": (68, 186), "timer_create": (222, 107), "mincore": (27, 232),
    "cachestat": (451, 451), "membarrier": (324, 283), "splice": (275, 76), "vmsplice": (278, 75),
    "inotify_init1": (294, 26), "mbind": (237, 235), "preadv2": (327, 286), "sendmmsg": (307, 269),
    "mlock": (149, 228), "landlock_create_ruleset": (444, 444),
}

# In a function of its own each; what it returns, or the errno that it raises.
PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.mmap.restype = ctypes.c_long
def call(number, *args):
    ctypes.set_errno(0)
    if libc.syscall(*map(ctypes.c_long, (number, *args))) == -1:
        raise OSError(ctypes.get_errno(), "")
    return "done"
def option(name):
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    class Filter(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("code", ctypes.c_void_p)]
    given = Filter(1, ctypes.addressof(code))
    one, _ = socket.socketpair()
    ctypes.set_errno(0)
    if libc.setsockopt(one.fileno(), socket.SOL_SOCKET, name, ctypes.byref(given), 16) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "done"
def attempt(function):
    try:
        return function()
    except OSError as error:
        return errno.errorcode.get(error.errno, error.errno)
    except ValueError:  # of the resource module
        return "EPERM"
"""

ATTEMPTS = [
    # (what, Python expression, answer)
    ("a mount namespace by clone", "call(CLONE, 0x20011, 0, 0, 0, 0)", "EPERM"),
    ("a user namespace by clone", "call(CLONE, 0x10000011, 0, 0, 0, 0)", "EPERM"),
    ("a network namespace by clone", "call(CLONE, 0x40000011, 0, 0, 0, 0)", "EPERM"),
    ("a pid namespace by clone", "call(CLONE, 0x20000011, 0, 0, 0, 0)", "EPERM"),
    ("a sibling of process 1's children", "call(CLONE, 0x8011, 0, 0, 0, 0)", "ENOSYS"),
    ("a child that ends with SIGSYS", "call(CLONE, 31, 0, 0, 0, 0)", "ENOSYS"),
    ("SIGSYS to oneself", "os.kill(os.getpid(), 31)", "EPERM"),
    ("SIGSYS to a thread", "signal.pthread_kill(threading.get_ident(), 31)", "EPERM"),
    ("SIGSYS by a descriptor", "fcntl.fcntl(0, 10, 31)", "EPERM"),
    ("limits of process 1", "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))", "EPERM"),
    ("no core limit", "call(PRLIMIT, 0, resource.RLIMIT_CORE, libc_buffer, 0)", "EPERM"),
    ("more processes", "resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))", "EPERM"),
    ("CPUs of process 1", "os.sched_setaffinity(1, {0})", "EPERM"),
    ("priority of process 1", "os.setpriority(os.PRIO_PROCESS, 1, 19)", "EPERM"),
    ("priority of the whole uid", "os.setpriority(os.PRIO_USER, 65532, 19)", "EPERM"),
    ("a higher priority", "os.setpriority(os.PRIO_PROCESS, 0, -1)", ("EPERM", "EACCES")),
    ("a device node", "os.mknod('/tmp/sda', 0o60600, os.makedev(8, 0))", "EPERM"),
    ("input into a terminal", "fcntl.ioctl(0, 0x5412, b'x')", "EPERM"),
    ("pages of the host's huge pool", "libc.mmap(0, 2 << 20, 3, 0x40022, -1, 0) == -1 and "
     "errno.errorcode[ctypes.get_errno()]", "ENOSYS"),
    ("pages merged with those of strangers", "mmap.mmap(-1, 4096).madvise(12)", "EINVAL"),
    ("the runtime out of the cache", "os.posix_fadvise(os.open('/usr/bin/python3', 0), 0, 0, "
     "os.POSIX_FADV_DONTNEED)", "ENOSYS"),
    ("a filter on a socket", "option(26)", "EPERM"),
    ("a BPF program on a socket", "option(50)", "EPERM"),
    ("a filter on a group of sockets", "option(51)", "EPERM"),
    ("a BPF program on a group", "option(52)", "EPERM"),
    ("out-of-band data", "socket.socketpair()[0].send(b'x', socket.MSG_OOB)", "ENOTSUP"),
    ("an Internet socket", "socket.socket(socket.AF_INET)", "EAFNOSUPPORT"),
    ("a netlink socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", "EAFNOSUPPORT"),
    ("a socket to the hypervisor", "socket.socket(40, socket.SOCK_STREAM)", "EAFNOSUPPORT"),
    ("the kernel's cryptography", "socket.socket(38, socket.SOCK_SEQPACKET)", "EAFNOSUPPORT"),
    ("an extended attribute", "os.setxattr('/tmp', 'user.a', b'')", "ENOTSUP"),
    ("a file in the root", "open('/x', 'w')", "EROFS"),
    ("a file in the runtime", "open('/usr/lib/x', 'w')", "EROFS"),
    ("a file in /dev", "open('/dev/x', 'w')", "EROFS"),
    ("another interpreter", "open('/usr/bin/python3', 'r+b')", ("EROFS", "EACCES", "ETXTBSY")),
    ("modes of a device", "os.chmod('/dev/null', 0)", ("EROFS", "EPERM")),
    ("times of a device", "os.utime('/dev/null')", ("EROFS", "EPERM")),
    ("the score for the OOM killer", "open('/proc/self/oom_score_adj', 'w')", "EROFS"),
    ("memory by /proc", "open('/proc/self/mem', 'r+b')", "EROFS"),
    ("the uid map", "open('/proc/self/uid_map', 'w')", ("EROFS", "EACCES")),
    ("a fault injected", "open('/proc/self/make-it-fail', 'w')", ("ENOENT", "EROFS")),
    ("process 1's memory", "open('/proc/1/mem')", "ENOENT"),
    ("process 1's environment", "open('/proc/1/environ')", "ENOENT"),
    ("process 1's root", "os.listdir('/proc/1/root')", "ENOENT"),
    ("the kernel's settings", "os.listdir('/proc/sys')", "ENOENT"),
    ("the kernel's keys", "open('/proc/keys')", "ENOENT"),
    ("the kernel's symbols", "open('/proc/kallsyms')", "ENOENT"),
    ("the machine's memory", "open('/proc/kcore')", "ENOENT"),
    ("the sysrq trigger", "open('/proc/sysrq-trigger', 'w')", ("ENOENT", "EROFS")),
    ("/sys", "len(os.listdir('/sys')) if os.path.isdir('/sys') else 0", 0),
    ("a kernel stack", "open('/proc/self/stack').read()", ("EPERM", "EACCES", "ENOENT")),
    ("the host's core pattern", "os.access('/proc/sys/kernel/core_pattern', os.F_OK)", False),
    ("a file by the parent of the root", "sorted(os.listdir('/..')) == sorted(os.listdir('/'))",
     True),
    ("set-uid files", "[n for t, _, names in os.walk('/usr') for n in names if "
     "os.lstat(os.path.join(t, n)).st_mode & 0o6000]", []),
]


class TestRefusals(unittest.TestCase):
    def test_calls_that_are_refused(self):
        column = 0 if X86 else 1
        numbers = {name: given[column] for name, given in {**CALLS, **ABSENT}.items()}
        found = run_json(PRELUDE + f"print(json.dumps({{name: attempt(lambda: call(number, 0, 0, "
                         f"0, 0, 0, 0)) for name, number in {numbers}.items()}}))")
        for name, answer in found.items():
            self.assertEqual(answer, "EPERM" if name in CALLS else "ENOSYS", name)

    def test_attempts(self):
        clone, prlimit = (56, 302) if X86 else (220, 261)
        head = PRELUDE + (f"CLONE, PRLIMIT = {clone}, {prlimit}\n"
                          "libc_buffer = ctypes.addressof(ctypes.create_string_buffer(16))\n")
        lines = ",\n".join(f"lambda: {expression}" for _, expression, _ in ATTEMPTS)
        found = run_json(head + "tries = [\n" + lines + "\n]\n"
                         "print(json.dumps([attempt(one) for one in tries], default=str))")
        for (what, _, expected), answer in zip(ATTEMPTS, found):
            with self.subTest(what):
                if isinstance(expected, tuple):
                    self.assertIn(answer, expected)
                else:
                    self.assertEqual(answer, expected)

    @unittest.skipUnless(X86, "other ways into the kernel: x86-64")
    def test_other_entrances_to_the_kernel(self):
        head = ("import ctypes, mmap\npage = mmap.mmap(-1, 4096, prot=7)\ndef enter(code):\n"
                "    page.write(code)\n    address = ctypes.addressof(ctypes.c_char.from_buffer("
                "page))\n    return ctypes.CFUNCTYPE(ctypes.c_long)(address)()\n")
        cases = {
            "int-80": ("enter(bytes.fromhex('b814000000cd80c3'))", "ForbiddenSyscall", 159),
            "x32": ("enter(bytes.fromhex('b8270000400f05c3'))", "ForbiddenSyscall", 159),
            "sysenter": ("enter(bytes.fromhex('b8140000000f34c3'))", "Signaled", None),
            "iopl": ("ctypes.CDLL(None).syscall(172, 3)", "ForbiddenSyscall", 159),
            "kexec": ("ctypes.CDLL(None).syscall(246, 0, 0, 0, 0)", "ForbiddenSyscall", 159),
            "a-port": ("enter(bytes.fromhex('e460c3'))", "Signaled", 139),
            "a-counter": ("enter(bytes.fromhex('31c90f33c3'))", "Signaled", 139),
            "halt": ("enter(bytes.fromhex('f4'))", "Signaled", 139),
            "vsyscall": ("ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(0xffffffffff600400)"
                         "(None)", None, None),
        }
        found = run_all([document(head + code, name) for name, (code, _, _) in cases.items()])
        for name, (_, reason, exit_code) in cases.items():
            with self.subTest(name):
                if reason:
                    self.assertEqual(found[name]["reason"], reason)
                if exit_code:
                    self.assertEqual(found[name]["exitCode"], exit_code)
                self.assertIn(found[name]["reason"], ("Completed", "Signaled", "ForbiddenSyscall"))

    def test_the_hosts_disk_is_not_flushed(self):
        """On a file of the runtime fsync() would reach the disk; on the run's own there is none."""
        def flushes():
            with open("/proc/diskstats", encoding="ascii") as file:
                return sum(int((line.split() + [0] * 20)[18]) for line in file)
        before = flushes()
        status = run_status("import os\nfd = os.open('/usr/bin/python3', os.O_RDONLY)\n"
                            "for _ in range(20000):\n    os.fsync(fd)\n    os.fdatasync(fd)\n")
        self.assertEqual(status["reason"], "Completed", status)
        self.assertLess(flushes() - before, 15000)

    def test_strangers_are_out_of_reach(self):
        """Two live runs: neither the other's abstract socket, nor its files, nor its processes."""
        code = ("import os, socket, time\n"
                "mine = socket.socket(socket.AF_UNIX)\nmine.bind('\\0ROLE')\nmine.listen()\n"
                "open('/dev/shm/ROLE', 'w').close()\nopen('/tmp/ROLE', 'w').close()\n"
                "time.sleep(0.7)\nother = socket.socket(socket.AF_UNIX)\n"
                "print(other.connect_ex('\\0OTHER'), os.listdir('/dev/shm'), os.listdir('/tmp'),"
                " [p for p in os.listdir('/proc') if p.isdigit()])\n")
        found = run_all([document(code.replace("ROLE", a).replace("OTHER", b), a)
                         for a, b in (("one", "two"), ("two", "one"))], parallel=2)
        for name in ("one", "two"):
            self.assertEqual(found[name]["stdout"],
                             f"{errno.ECONNREFUSED} ['{name}'] ['{name}'] ['2']\n")


# ---- how programs end

class TestSignals(unittest.TestCase):
    def test_each_signal_to_oneself(self):
        numbers = [n for n in range(1, 65) if n not in (signal.SIGSTOP, signal.SIGSYS, 32, 33)]
        harmless = {13, 17, 18, 20, 21, 22, 23, 25, 28}  # ignored by default, or by Python
        found = run_all([document(f"import os; os.kill(os.getpid(), {n})", f"signal-{n}",
                                  timeoutSeconds=10) for n in numbers], parallel=8)
        for n in numbers:
            status = found[f"signal-{n}"]
            expected = ("Completed", 0) if n in harmless else ("Signaled", 128 + n)
            self.assertEqual((status["reason"], status["exitCode"]), expected, n)
            if n not in harmless:
                self.assertIn(f"signal {n} ", status["message"])

    def test_process_one_takes_no_signal(self):
        status = run_status("import os\nfor n in range(1, 65):\n    try: os.kill(1, n)\n"
                            "    except PermissionError: pass\nprint('alive')")
        self.assertEqual((status["reason"], status["stdout"]), ("Completed", "alive\n"))


DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in set(range(1, 65)) - {9, 19, 32, 33}:
            signal.signal(n, signal.SIG_IGN)
        while True:
            time.sleep(0.01)
    os._exit(0)
os.wait()
"""

# name: (program, reason, exit code, stdout or None)
ENDS = {
    "a-child-holds-the-pipes": (
        "import os\nif os.fork() == 0:\n    import time; time.sleep(50)\nprint(1)",
        "Completed", 0, "1\n"),
    "a-daemon-ignores-all": (DAEMON + "print(1)", "Completed", 0, "1\n"),
    "a-child-is-stopped": (
        "import os, signal\npid = os.fork()\nif pid == 0:\n    os.kill(os.getpid(), signal.SIGSTOP)"
        "\nos.waitpid(pid, os.WUNTRACED); print(1)", "Completed", 0, "1\n"),
    "stops-itself": ("import os; os.kill(os.getpid(), 19)", "DeadlineExceeded", -1, ""),
    "waits-for-its-vfork": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nif libc.vfork() == 0:\n"
        "    while True: libc.sleep(99)", "DeadlineExceeded", -1, ""),
    "kills-its-group": ("import os; os.kill(0, 9)", "Signaled", 137, ""),
    "kills-all-but-itself": (
        "import os, time\nfor _ in range(9):\n    if os.fork() == 0: time.sleep(50)\n"
        "os.kill(-1, 9); print(1)", "Completed", 0, "1\n"),
    "closes-its-streams": ("import os; os.closerange(0, 4096); os._exit(6)", "Error", 6, ""),
    "reopens-its-streams": (
        "import os\nfor path in ('/dev/stdout', '/proc/self/fd/1'):\n"
        "    os.write(os.open(path, os.O_WRONLY), b'x')", "Completed", 0, "xx"),
    "has-no-other-descriptor": (
        "import os\nprint([n for n in os.listdir('/proc/self/fd') if int(n) > 2][1:])",
        "Completed", 0, "[]\n"),
    "main-thread-ends-first": (
        "import ctypes, os, threading, time\ndef late():\n    time.sleep(0.3); os._exit(9)\n"
        f"threading.Thread(target=late).start()\nctypes.CDLL(None).syscall({60 if X86 else 93}, 0)",
        "Error", 9, ""),
    "becomes-another-program": (
        "import os; os.execv('/usr/bin/python3', ['python3', '-Ic', 'print(42)'])",
        "Completed", 0, "42\n"),
    "runs-a-file-without-a-name": (
        "import os\nfd = os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o700)\n"
        "os.write(fd, open('/usr/bin/python3', 'rb').read())\n"
        "ro = os.open(f'/proc/self/fd/{fd}', os.O_RDONLY)\nos.close(fd)\n"
        "os.execv(f'/proc/self/fd/{ro}', ['/usr/bin/python3', '-Ic', 'open(\"/x\", \"w\")'])",
        "Error", 1, ""),
    "too-many-arguments": (
        "import os\ntry:\n    os.execv('/usr/bin/python3', ['x'] * 2000000)\n"
        "except OSError as error:\n    print(error.errno)", "Completed", 0, f"{errno.E2BIG}\n"),
    "aborts": ("import os; os.abort()", "Signaled", 134, ""),
    "reads-null": ("import ctypes; ctypes.string_at(0)", "Signaled", 139, ""),
    "exits-without-a-code": ("import sys; sys.exit()", "Completed", 0, ""),
    "exits-with-a-text": ("import sys; sys.exit('bye')", "Error", 1, ""),
    "exits-with-256": ("import sys; sys.exit(256)", "Completed", 0, ""),
    "exits-with-minus-one": ("import sys; sys.exit(-1)", "Error", 255, ""),
    "interrupts-itself": ("raise KeyboardInterrupt", "Signaled", 130, ""),
    "recurses-without-end": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()", "OOMKilled", 137, ""),
    "a-child-is-over-the-limit": (
        "import os\nif os.fork() == 0:\n    x = bytearray(b'1') * (200 << 20)\nos.wait()",
        "OOMKilled", 137, ""),
    "locks-shared-memory": (
        "import mmap\nheld = [mmap.mmap(-1, 64 << 20) for _ in range(9)]\n"
        "for one in held:\n    one.write(b'x' * len(one))", "OOMKilled", 137, ""),
}


class TestEnds(unittest.TestCase):
    def test_programs(self):
        limits = {"limits": {"memory": "128Mi"}}
        with Watch(self):
            found = run_all([document(code, name, timeoutSeconds=3, resources=limits)
                             for name, (code, _, _, _) in ENDS.items()])
        for name, (_, reason, exit_code, stdout) in ENDS.items():
            with self.subTest(name):
                status = found[name]
                self.assertEqual((status["reason"], status["exitCode"]), (reason, exit_code),
                                 status)
                if stdout is not None:
                    self.assertEqual(status["stdout"], stdout)

    def test_exit_codes_mean_nothing_else(self):
        """Those that the runner, the reaper, a shell or the command line use for themselves too."""
        codes = [1, 2, 3, 70, 90, 91, 92, 124, 125, 126, 127, 128, 129, 137, 159, 255]
        found = run_all([document(f"import os; os._exit({code})", f"code-{code}")
                         for code in codes])
        for code in codes:
            status = found[f"code-{code}"]
            self.assertEqual((status["reason"], status["exitCode"]), ("Error", code))

    def test_death_is_not_slower_than_life(self):
        """128 processes with 4,000 descriptors each, on a fiftieth of a CPU: their ends are work."""
        status = run_status("import os, resource, time\n"
                            "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n"
                            "for fd in range(3, 4090):\n    os.dup2(0, fd)\n"
                            "while True:\n    try:\n        os.fork()\n"
                            "    except OSError:\n        time.sleep(1)\n",
                            timeoutSeconds=3, resources={"limits": {"cpu": "20m"}})
        self.assertEqual(status["reason"], "DeadlineExceeded", status)
        self.assertLess(status["usage"]["wallMilliseconds"], 10000)

    def test_what_a_program_leaves_alive_does_not_prolong_it(self):
        status = run_status("import os, resource, time\n"
                            "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n"
                            "for fd in range(3, 4090):\n    os.dup2(0, fd)\n"
                            "for _ in range(100):\n    if os.fork() == 0: time.sleep(99)\n",
                            timeoutSeconds=40, resources={"limits": {"cpu": "20m"}})
        self.assertEqual(status["reason"], "Completed", status)
        self.assertLess(status["usage"]["wallMilliseconds"], 15000)


# ---- what programs use up

NEIGHBOUR = """
import json, time
held = bytearray(b"n") * (64 << 20)
start = time.monotonic()
while time.monotonic() - start < 1.0:
    pass
print(json.dumps([time.process_time(), held.count(b"n") == len(held)]))
"""

BOMBS = {
    "forks": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
    "forks-and-ends": "import os\nwhile True:\n    if os.fork() == 0: os._exit(0)\n    os.wait()\n",
    "threads": "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, "
               "args=(99,), daemon=True).start()\n    except RuntimeError: pass\n",
    "memory": "held = []\nwhile True: held.append(bytearray(b'x') * (8 << 20))\n",
    "memory-of-many": "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        held = "
                      "bytearray(b'x') * (30 << 20)\n        time.sleep(99)\ntime.sleep(99)\n",
    "descriptors": "import os\nwhile True:\n    try: os.open('/dev/null', 0)\n"
                   "    except OSError:\n        try: os.fork()\n        except OSError: pass\n",
    "pipes": "import fcntl, os\nheld = []\nwhile True:\n    try:\n        r, w = os.pipe()\n"
             "        fcntl.fcntl(w, 1031, 1 << 20)\n    except OSError: pass\n"
             "    os.set_blocking(w, False)\n    try:\n        while True: os.write(w, b'z' * 65536)"
             "\n    except OSError: pass\n",
    "sockets": "import socket\nheld = []\nwhile True:\n    try:\n        pair = socket.socketpair()\n"
               "        held.append(pair)\n        pair[0].setblocking(False)\n"
               "        while True: pair[0].send(b'z' * 65536)\n    except OSError: pass\n",
    "descriptors-in-flight": "import socket\nwhile True:\n    a, b = socket.socketpair()\n"
                             "    try:\n        while True: socket.send_fds(a, [b'x'], "
                             "[a.fileno(), b.fileno()] * 50)\n    except OSError: pass\n",
    "files": "for place in ('/tmp', '/dev/shm', '/home/sandbox'):\n    try:\n"
             "        with open(place + '/f', 'wb') as file:\n"
             "            while True: file.write(bytes(1 << 20))\n    except OSError: pass\n"
             "while True: pass\n",
    "inodes": "import os\nfor place in ('/tmp', '/dev/shm', '/home/sandbox'):\n    n = 0\n    try:\n"
              "        while True:\n            os.mkdir(f'{place}/{n}')\n            n += 1\n"
              "    except OSError: pass\nwhile True: pass\n",
    "depth": "import os\nos.chdir('/tmp')\ntry:\n    while True:\n        os.mkdir('d')\n"
             "        os.chdir('d')\nexcept OSError: pass\nwhile True: pass\n",
    "names": "import os\nn = 0\nwhile True:\n    n += 1\n    os.access(f'/usr/lib/{n}', 0)\n",
    "mappings": "import mmap\nheld = []\ntry:\n    while True: held.append(mmap.mmap(-1, 4096, "
                "prot=1 + len(held) % 2 * 2))\nexcept OSError: pass\nwhile True: pass\n",
    "output": "import os\nwhile True:\n    os.write(1, b'x' * 65536)\n    os.write(2, b'y' * 65536)\n",
}


class TestBombs(unittest.TestCase):
    """One beside each neighbour, which must have its memory and some of its CPU. The tests are
    made below."""

    def explode(self, code):
        half = {"limits": {"cpu": "500m", "memory": "128Mi"}}
        with Watch(self):
            found = run_all([document(NEIGHBOUR, "neighbour", resources=half),
                             document(code, "bomb", timeoutSeconds=1, resources=half)], 2)
        neighbour, bomb = found["neighbour"], found["bomb"]
        self.assertEqual(neighbour["reason"], "Completed", neighbour)
        cpu_seconds, intact = json.loads(neighbour["stdout"])
        self.assertTrue(intact)
        self.assertGreater(cpu_seconds, 0.1)
        self.assertIn(bomb["reason"], ("DeadlineExceeded", "OOMKilled", "Error",
                                       "OutputLimitExceeded"), bomb)
        self.assertLessEqual(bomb["usage"].get("peakMemoryBytes", 0), 128 * MIB)


def add_bombs():
    for name, code in BOMBS.items():
        setattr(TestBombs, "test_" + name.replace("-", "_"),
                lambda self, code=code: self.explode(code))


add_bombs()


# ---- whoever calls

class TestCaller(unittest.TestCase):
    """The state of the process that starts us changes nothing for the program inside."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="sbr-attack-")
        self.addCleanup(self.scratch.cleanup)
        os.chmod(self.scratch.name, 0o755)
        self.path = self.put("hello.py", "print('hello')\n")
        self.argv = [program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES]

    def put(self, name, text):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, path=None, **kwargs):
        return subprocess.run([*self.argv, path or self.path], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, **kwargs)

    def test_closed_streams(self):
        """No descriptor of ours takes a closed one's place: output would go into it."""
        for closed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
            with self.subTest(closed=closed), Watch(self):
                done = subprocess.run(["bash", "-c", '"$0" "$@" ' + "".join(
                    f"{n}<&- " for n in closed), *self.argv, self.path], capture_output=True,
                    text=True, timeout=60)
                self.assertEqual(done.returncode, 125 if 1 in closed else 0, done.stderr)
                self.assertEqual(done.stdout, "" if 1 in closed else "hello\n")
                if 1 in closed and 2 not in closed:
                    self.assertEqual(done.stderr,
                                     "sandboxrun: write to stdout: Bad file descriptor\n")
        done = subprocess.run(["bash", "-c", '"$0" "$@" - 0<&-', *self.argv], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr),
                         (125, "sandboxrun: read stdin: Bad file descriptor\n"))

    def test_signals_that_the_caller_ignores_or_blocks(self):
        def prepare():
            for number in set(range(1, 65)) - {9, 19, 32, 33}:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        path = self.put("mask.py", "import re\nprint(re.findall('^Sig(?:Blk|Ign):\\t(.*)',"
                        " open('/proc/self/status').read(), re.M))\n")
        usual, strange = self.start(path), self.start(path, preexec_fn=prepare)
        self.assertEqual((usual.returncode, usual.stderr), (0, ""))
        self.assertEqual((strange.returncode, strange.stdout, strange.stderr),
                         (0, usual.stdout, ""))

    def test_what_is_not_inherited(self):
        path = self.put("state.py", "import os\nprint(open('/proc/self/personality').read(), "
                        "os.sched_getscheduler(0), os.getpriority(0, 0) < 0, os.getcwd(),"
                        " sorted(os.environ), os.umask(0))\n")
        usual = self.start(path).stdout
        self.assertTrue(usual.startswith("00000000\n 0 False"), usual)
        for wrapper in (["setarch", "-R"], ["nice", "-n", "-15"], ["chrt", "-f", "10"],
                        ["env", "LD_PRELOAD=/x", "PYTHONPATH=/x", "SECRET=1"],
                        ["bash", "-c", 'umask 0777; cd /proc; exec "$0" "$@"']):
            with self.subTest(wrapper):
                done = subprocess.run([*wrapper, *self.argv, path], capture_output=True, text=True,
                                      timeout=60)
                self.assertEqual(done.stdout, usual, done.stderr)

    def test_low_limits(self):
        cases = {"-n 30": 125, "-n 1000": 125, "-l 0": 0, "-q 0": 0, "-x 0": 0, "-i 0": 0,
                 "-v 500000": 0, "-t 5": 0, "-u 1": 125}
        for limit, code in cases.items():
            with self.subTest(limit), Watch(self):
                done = subprocess.run(["bash", "-c", f'ulimit {limit}; exec "$0" "$@"', *self.argv,
                                       self.path], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stdout, "" if code else "hello\n")
                self.assertEqual(bool(done.stderr), bool(code))

    def test_file_systems_that_are_missing(self):
        cases = {"umount -l /proc": 125, "mount -t tmpfs none /proc": 125,
                 "mount -o remount,bind,ro /proc": 125, "mount -t tmpfs none /dev": 125,
                 "mount -t tmpfs none /sys/fs/cgroup": 125,
                 "mount -t tmpfs -o size=4k none /run; mount -t tmpfs -o ro none /var/tmp": 0}
        for setup, code in cases.items():
            with self.subTest(setup), Watch(self):
                done = subprocess.run(["unshare", "-m", "sh", "-c", f'{setup}; exec "$0" "$@"',
                                       *self.argv, self.path], capture_output=True, text=True,
                                      timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(bool(done.stderr), bool(code))

    def test_twenty_at_once(self):
        with Watch(self):
            running = [subprocess.Popen([*self.argv, self.path], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT) for _ in range(20)]
            for one in running:
                self.assertEqual((one.communicate(timeout=60)[0], one.returncode), (b"hello\n", 0))

    def test_kills_at_any_moment(self):
        """SIGKILL of the command line, of its jailer, of both, from the first moment on."""
        path = self.put("busy.py", "import os\nfor _ in range(3):\n    os.fork()\n"
                        "while True: os.write(1, b'x' * 4096)\n")
        chance = random.Random(1)
        with Watch(self):
            for number in range(45):
                running = subprocess.Popen([*self.argv, "--timeout", "5", path],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(chance.uniform(0, chance.choice([0.003, 0.02, 0.06])))
                try:
                    with open(f"/proc/{running.pid}/task/{running.pid}/children",
                              encoding="ascii") as file:
                        jailers = [int(pid) for pid in file.read().split()]
                except OSError:
                    jailers = []
                if number % 3 != 0:
                    for pid in jailers:
                        # A resolver that isn't needed ends by itself.
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                if number % 3 != 1 or not jailers:
                    running.kill()
                running.wait(40)
            # What dead jailers left is swept by the next one.
            self.assertEqual(self.start().stdout, "hello\n")


# ---- whoever talks to the jailer

def damaged(offset, data):
    good = bytearray(protocol.encode(
        protocol.CREATE, id=protocol.new_id(), profile=protocol.SNIPPET, runtime="python3.12",
        cpu_milli=1000, memory_bytes=64 * MIB))
    good[offset:offset + len(data)] = data
    return bytes(good)


class TestJailer(unittest.TestCase):
    def jailer(self, *options, **kwargs):
        jailer = protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *options, **kwargs)
        self.addCleanup(jailer.log.close)
        return jailer

    def expect_end(self, connection):
        with self.assertRaises(protocol.ConnectionEnded):
            while True:
                connection.receive(10)

    def test_messages_that_end_the_connection(self):
        messages = {
            "no byte": b"", "one byte": b"\0", "no type": struct.pack("<II", 0, 8),
            "a longer one": damaged(0, b"") + b"\0", "a shorter one": damaged(0, b"")[:-1],
            "a length that lies": damaged(4, b"\xff" * 4), "a huge one": b"\xff" * 100000,
            "an id in upper case": damaged(8, protocol.new_id().upper().encode()),
            "an id without an end": damaged(8, b"a" * 40),
            "bytes behind the id": damaged(8 + 37, b"abc"),
            "no such profile": damaged(48, b"\2"), "no runtime": damaged(52, b"\0" * 64),
            "a runtime without an end": damaged(52, b"a" * 64), "no CPU": damaged(116, b"\0" * 4),
            "all CPU": damaged(116, b"\xff" * 4), "no memory": damaged(120, b"\0" * 8),
            "all memory": damaged(120, b"\xff" * 8),
            "no time": protocol.encode(protocol.START, id=protocol.new_id(), timeout_ms=0),
            "a kill of a path": protocol.encode(protocol.KILL, id="../../x"),
        }
        with Watch(self), self.jailer(socket=True) as jailer:
            connection = jailer.connect()
            for name, message in messages.items():
                with self.subTest(name):
                    connection.send_raw(message)
                    self.expect_end(connection)
                    connection.close()
                    connection = jailer.connect()
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")

    def test_words_about_unknown_sandboxes_are_ignored(self):
        with Watch(self), self.jailer() as jailer:
            for _ in range(100):
                jailer.connection.send(protocol.START, id=protocol.new_id(), timeout_ms=1)
                jailer.connection.send(protocol.KILL, id=protocol.new_id())
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")

    def test_descriptors_are_never_taken(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, write_end)
        with Watch(self), self.jailer(socket=True) as jailer:
            jailer.connect().close()
            connection = jailer.connect()
            place = f"/proc/{jailer.process.pid}/fd"
            before = len(os.listdir(place))
            for _ in range(10):
                connection.send_raw(protocol.encode(protocol.KILL, id=protocol.new_id()),
                                    [read_end] * 50)
                self.expect_end(connection)
                connection.close()
                connection = jailer.connect()
            # Fewer is no harm: what reads the runtime ahead ends at a time of its own.
            self.assertLessEqual(len(os.listdir(place)), before)
            os.close(read_end)
            with self.assertRaises(BrokenPipeError):
                os.write(write_end, b"x")

    def test_an_agent_that_only_asks(self):
        """It never reads: its answers are kept up to a bound, and then it goes."""
        with Watch(self), self.jailer(socket=True) as jailer:
            connection = jailer.connect()
            connection.sock.settimeout(10)
            with self.assertRaises(OSError):
                for _ in range(100000):
                    connection.create(runtime="none")
            connection.close()
            jailer.connect()
            self.assertEqual(jailer.run("print(1)").stdout, b"1\n")
            with open(f"/proc/{jailer.process.pid}/status", encoding="ascii") as file:
                resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
            self.assertLess(resident, 16384)

    def test_more_than_there_is_room_for(self):
        with Watch(self), self.jailer("--max-runs", "4") as jailer:
            ids = [jailer.connection.create(memory=32 * MIB) for _ in range(100)]
            answers = [jailer.connection.receive_about(one, 30) for one in ids]
            self.assertEqual([kind for kind, _, _ in answers].count(protocol.CREATED), 4)
            for _, _, fds in answers:
                for fd in fds:
                    os.close(fd)

    def test_a_log_that_nobody_reads_holds_up_no_deadline(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        jailer = self.jailer()
        with open(write_end, "wb") as log:
            jailer.log.close()
            jailer.log = log
            with jailer:
                sandbox = jailer.connection.create()
                _, _, fds = jailer.connection.receive_about(sandbox)
                os.write(fds[0], protocol.encode_request("while True: pass"))
                jailer.connection.send(protocol.START, id=sandbox, timeout_ms=1000)
                for _ in range(1000):  # each is a line of the log
                    refused = jailer.connection.create(runtime="none")
                    jailer.connection.receive_about(refused)
                kind, fields, _ = jailer.connection.receive_about(sandbox, 10)
                for fd in fds:
                    os.close(fd)
        self.assertEqual((kind, fields["end"]), (protocol.FINISHED, protocol.END_DEADLINE))
        self.assertLess(fields["wall_us"], 4000000)


if __name__ == "__main__":
    unittest.main()
