# SPDX-License-Identifier: Apache-2.0
"""The programs of the soak test, each with the ends that it may have.

An end is a reason of section 7 of the design with the exit code of status. Most programs have one;
more only where the kernel decides which of two limits is met first. They are short, since a run
should cost its sandbox and not its program, and they leave as much behind as a program can: what
they open, start, lock and fill is never given back by themselves.
"""

import dataclasses
import os

X86 = os.uname().machine == "x86_64"

COMPLETED = ("Completed", 0)
DEADLINE = ("DeadlineExceeded", -1)
OOM = ("OOMKilled", 137)
FORBIDDEN = ("ForbiddenSyscall", 159)
OUTPUT_LIMIT = ("OutputLimitExceeded", -1)

# Those that end by themselves have time enough on a machine that does other things as well.
AMPLE_S = 40


def error(code):
    return ("Error", code)


def signaled(number):
    return ("Signaled", 128 + number)


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    code: str
    ends: tuple
    stdout: str | None = None  # all of it, where the end is the first one
    timeout_s: int = AMPLE_S
    memory_mib: int = 64
    weight: int = 4
    agent_only: bool = False  # its end is the agent's doing


HEAD = """
import ctypes, errno, os, signal, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    ctypes.set_errno(0)
    if libc.syscall(*map(ctypes.c_long, (number, *args, *(0,) * (6 - len(args))))) < 0:
        return errno.errorcode.get(ctypes.get_errno())
    return "done"
def until_refused(function):
    held = []
    try:
        while len(held) < 5000:
            held.append(function())
    except (OSError, RuntimeError):
        pass
    return held
"""

IGNORE_ALL = """
for number in set(range(1, 65)) - {9, 19, 32, 33}:
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
"""


def number(x86, arm64):
    return x86 if X86 else arm64


REFUSED = {name: number(*numbers) for name, numbers in {
    "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268), "ptrace": (101, 117),
    "bpf": (321, 280), "perf_event_open": (298, 241), "io_uring_setup": (425, 425),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "mq_open": (240, 180),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "timer_create": (222, 107),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "userfaultfd": (323, 282),
    "clone3": (435, 435), "landlock_create_ruleset": (444, 444)}.items()}  # fmt: skip

_ENDING = [
    Program("nothing", "pass", (COMPLETED,), "", weight=24),
    Program("hello", "print('hello')", (COMPLETED,), "hello\n", weight=24),
    Program("exit-3", "import sys; sys.exit(3)", (error(3),), "", weight=8),
    Program("exit-70", "import os; os._exit(70)", (error(70),), ""),
    Program("exit-255", "import os; os._exit(255)", (error(255),), ""),
    Program("raises", "raise ValueError", (error(1),), ""),
    Program("sigterm", "import os; os.kill(os.getpid(), 15)", (signaled(15),), ""),
    Program("sigkill", "import os; os.kill(os.getpid(), 9)", (signaled(9),), ""),
    Program("real-time-signal", "import os; os.kill(os.getpid(), 40)", (signaled(40),), ""),
    Program("aborts", "import os; os.abort()", (signaled(6),), ""),
    Program("reads-null", "import ctypes; ctypes.string_at(0)", (signaled(11),), ""),
    Program("kills-all-it-can", "import os; os.kill(0, 9)", (signaled(9),), ""),
    Program("other-program",
            "import os; os.execv('/usr/bin/python3', ['python3', '-Ic', 'print(42)'])",
            (COMPLETED,), "42\n"),
    Program("children", HEAD + "for _ in range(10):\n    if os.fork() == 0: os._exit(0)\n"
            "while True:\n    try: os.wait()\n    except ChildProcessError: break\n",
            (COMPLETED,), ""),
    Program("zombies", HEAD + "for _ in range(20):\n    if os.fork() == 0: os._exit(0)\n"
            "time.sleep(0.02)\n", (COMPLETED,), ""),
    Program("fork-bomb", HEAD + "try:\n    while True:\n        if os.fork() == 0:\n"
            "            time.sleep(99)\nexcept OSError:\n    print('full', flush=True)\n",
            (COMPLETED,), "full\n", memory_mib=256, weight=2),
    Program("daemon", HEAD + "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
            + IGNORE_ALL.replace("\n", "\n        ") + "\n        while True: time.sleep(0.01)\n"
            "    os._exit(0)\nos.wait(); print(1)\n", (COMPLETED,), "1\n", weight=8),
    Program("child-holds-the-pipes", HEAD + "if os.fork() == 0: time.sleep(99)\nprint(1)\n",
            (COMPLETED,), "1\n"),
    Program("stopped-child", HEAD + "pid = os.fork()\nif pid == 0: os.kill(os.getpid(), 19)\n"
            "os.waitpid(pid, os.WUNTRACED); print(1)\n", (COMPLETED,), "1\n"),
    Program("vfork-left-behind", HEAD + "if os.fork() == 0:\n    if libc.vfork() == 0:\n"
            "        while True: libc.sleep(99)\ntime.sleep(0.02); print(1)\n",
            (COMPLETED,), "1\n"),
    Program("threads", HEAD + "until_refused(lambda: threading.Thread(target=time.sleep, "
            "args=(99,), daemon=True).start())\nprint(1, flush=True); os._exit(0)\n",
            (COMPLETED,), "1\n", memory_mib=128),
    Program("last-thread", HEAD + "def late():\n    time.sleep(0.05); os._exit(9)\n"
            f"threading.Thread(target=late).start()\ncall({number(60, 93)}, 0)\n", (error(9),), ""),
    Program("memory", "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))\n", (OOM,),
            weight=6),
    Program("memory-of-a-child", "import os\nif os.fork() == 0:\n    x = bytearray(b'1') * "
            "(200 << 20)\nos.wait()\n", (OOM,), ""),
    Program("shared-memory", "import mmap\none = mmap.mmap(-1, 128 << 20)\n"
            "for at in range(0, len(one), 4096): one[at] = 1\n", (OOM,), ""),
    Program("output", "import os\nfor _ in range(64):\n    os.write(1, b'x' * 65536)\n",
            (COMPLETED,), weight=6),
    Program("descriptors", HEAD + "held = until_refused(lambda: os.open('/dev/null', 0))\n"
            "print(len(held) > 900)\n", (COMPLETED,), "True\n"),
    Program("pipes", HEAD + "def pipe():\n    r, w = os.pipe()\n    os.set_blocking(w, False)\n"
            "    os.write(w, b'z' * 4096)\nuntil_refused(pipe)\n", (COMPLETED,), ""),
    Program("socket-pairs", HEAD + "def pair():\n    one = socket.socketpair()\n"
            "    one[0].setblocking(False)\n    one[0].send(b'z' * 4096)\n    return one\n"
            "print(len(until_refused(pair)) > 400)\n", (COMPLETED,), "True\n"),
    Program("sockets-in-flight", HEAD + "for _ in range(20):\n    a, b = socket.socketpair()\n"
            "    for _ in range(5): socket.send_fds(a, [b'x'], [a.fileno(), b.fileno()])\n"
            "    a.close(); b.close()\nprint(1)\n", (COMPLETED,), "1\n", weight=6),
    Program("abstract-socket", HEAD + "one = socket.socket(socket.AF_UNIX)\none.bind('\\0soak')\n"
            "one.listen()\nother = socket.socket(socket.AF_UNIX)\nother.connect('\\0soak')\n"
            "file = socket.socket(socket.AF_UNIX)\nfile.bind('/tmp/soak')\nprint(1)\n",
            (COMPLETED,), "1\n"),
    Program("no-internet", HEAD + "for family in (2, 10, 16, 17, 38, 40):\n    try:\n"
            "        socket.socket(family, socket.SOCK_RAW)\n        print('open', family)\n"
            "    except OSError: pass\n", (COMPLETED,), ""),
    Program("refused-calls", HEAD + f"for name, n in {REFUSED!r}.items():\n"
            "    if call(n) == 'done': print(name)\n", (COMPLETED,), "", weight=8),
    Program("many-refused-calls", HEAD + f"for _ in range(400): call({REFUSED['mount']})\n",
            (COMPLETED,), ""),
    Program("forbidden-call", HEAD + f"call({number(246, 104)})\n", (FORBIDDEN,), "", weight=6),
    Program("files", HEAD + "for place in ('/tmp', '/dev/shm', '/home/sandbox'):\n"
            "    for n in range(100):\n        open(f'{place}/{n}', 'w').write('x' * 5000)\n"
            "        os.link(f'{place}/{n}', f'{place}/{n}-l')\n"
            "        os.symlink(f'{place}/{n}', f'{place}/{n}-s')\n", (COMPLETED,), ""),
    Program("nameless-files", HEAD + "held = [os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o600) "
            "for _ in range(100)]\nfor fd in held: os.write(fd, b'x' * 5000)\n"
            "os.open('/dev/shm/x', os.O_CREAT | os.O_RDWR); os.unlink('/dev/shm/x')\n",
            (COMPLETED,), ""),
    Program("deep-directories", HEAD + "os.chdir('/tmp')\nfor _ in range(500):\n"
            "    os.mkdir('d'); os.chdir('d')\nopen('x', 'w').write('x')\n", (COMPLETED,), ""),
    Program("locks", HEAD + "import fcntl\nheld = [open(f'/tmp/{n}', 'w') for n in range(50)]\n"
            "for one in held:\n    fcntl.flock(one, fcntl.LOCK_EX)\n    fcntl.lockf(one, "
            "fcntl.LOCK_EX)\n", (COMPLETED,), ""),
    Program("mapped-file", HEAD + "import mmap\nfile = open('/dev/shm/x', 'w+b')\n"
            "file.truncate(1 << 20)\none = mmap.mmap(file.fileno(), 0)\none.write(b'x' * (1 << 20))"
            "\nos.fork()\n", (COMPLETED,), ""),
    Program("full-file-systems", "for place in ('/tmp', '/dev/shm', '/home/sandbox'):\n    try:\n"
            "        with open(place + '/f', 'wb', 0) as file:\n"
            "            while True: file.write(bytes(1 << 20))\n    except OSError: pass\n",
            (COMPLETED, OOM), "", weight=2),
    Program("queued-signals", HEAD + "signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))\n"
            "for n in range(34, 65):\n    for _ in range(20): os.kill(os.getpid(), n)\nprint(1)\n",
            (COMPLETED,), "1\n"),
    Program("polled", HEAD + "import select\nepoll = select.epoll()\nr, w = os.pipe()\n"
            "epoll.register(r)\nfor make in ('eventfd', 'pidfd_open'):\n"
            "    try: getattr(os, make)(os.getpid())\n    except OSError: pass\n"
            "signal.setitimer(signal.ITIMER_REAL, 50)\nprint(1)\n", (COMPLETED,), "1\n"),
    Program("output-beyond-the-limit", "import os\nwhile True: os.write(1, b'x' * 65536)\n",
            (OUTPUT_LIMIT,), weight=2, agent_only=True),
]

# Each holds its place until the deadline, so these are the rarer ones.
_ENDLESS = [
    ("sleeps", "import time\nwhile True: time.sleep(9)\n"),
    ("computes", "while True: pass\n"),
    ("stops-itself", "import os; os.kill(os.getpid(), 19)\n"),
    ("waits-for-its-vfork",
     HEAD + "if libc.vfork() == 0:\n    while True: libc.sleep(99)\n"),
    ("family-that-ignores-all",
     HEAD + IGNORE_ALL + "for _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n"
     "        if os.fork(): os._exit(0)\n        for fd in range(3): os.close(fd)\n"
     "        time.sleep(600)\nwhile True: time.sleep(9)\n"),
    ("forks-on-and-on", "import os\nwhile True:\n    if os.fork() == 0: os._exit(0)\n"
                        "    os.wait()\n"),
    ("waits-for-itself", "import os\nr, w = os.pipe()\nos.read(r, 1)\n"),
    ("writes-without-end-into-its-own-pipe", "import os\nr, w = os.pipe()\n"
                                             "while True: os.write(w, bytes(65536))\n"),
]

PROGRAMS = _ENDING + [Program(name, code, (DEADLINE,), timeout_s=1, weight=1)
                      for name, code in _ENDLESS]
BY_NAME = {program.name: program for program in PROGRAMS}


def choose(chance, agent):
    """One at random; agent: there is one, and not the bare jailer alone."""
    able = [program for program in PROGRAMS if agent or not program.agent_only]
    return chance.choices(able, [program.weight for program in able])[0]


def differs(program, ends, end, stdout):
    """Why an end is none of those expected, or None. stdout None: it was not read."""
    if end not in ends:
        return f"{end[0]} {end[1]} and not {' or '.join(f'{r} {c}' for r, c in ends)}"
    if program.stdout is not None and end == program.ends[0] and stdout is not None:
        if stdout != program.stdout:
            return f"stdout {stdout[:200]!r} and not {program.stdout!r}"
    return None
