# SPDX-License-Identifier: Apache-2.0
"""A lock that can't be set fails the run and is named; nothing runs without it, nothing is left."""

import errno
import glob
import os
import shutil
import signal
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import parent_is_gone, processes_below, sandboxes_below
from helpers.deny import denying
from helpers.deny_asked import denying_asked
from helpers.jailer_process import children_of, descriptors_of
from helpers.local import PATIENCE, RUNTIMES, need_root, program

PARENT = "sandboxrun-locks"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100000000")

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
CAP_SYS_ADMIN = 21
PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 28, 38, 47
PR_SET_DUMPABLE, PR_CAPBSET_DROP = 4, 24
SECBIT_NO_SETUID_FIXUP = 4
RLIMIT_CORE = 4
RLIMITS = {"FSIZE": 1, "STACK": 3, "NPROC": 6, "NOFILE": 7, "MEMLOCK": 8, "SIGPENDING": 11,
           "MSGQUEUE": 12, "NICE": 13, "RTPRIO": 14}  # fmt: skip

# The system call that is refused, the lock that must be named, a word of the text.
CASES = [
    ("close_range", "descriptors", "close"),
    (f"unshare:0={CLONE_NEWNET}/{CLONE_NEWNET}", "namespaces", "new namespaces"),
    ("sethostname", "namespaces", "host name"),
    ("setdomainname", "namespaces", "domain name"),
    # Only what sets a limit has a new one.
    *((f"prlimit64:1={number}:2~0", "rlimits", f"set RLIMIT_{name}")
      for name, number in RLIMITS.items()),
    (f"prlimit64:1={RLIMITS['NICE']}:2=0", "rlimits", "read RLIMIT_NICE"),
    ("setgroups", "user-namespace", "groups"),
    ("setresgid", "user-namespace", "gid"),
    ("setresuid", "user-namespace", "uid"),
    (f"unshare:0={CLONE_NEWUSER}", "user-namespace", "user namespace"),
    (f"prctl:0={PR_SET_SECUREBITS}:1={SECBIT_NO_SETUID_FIXUP}", "user-namespace", "capabilities"),
    (f"prctl:0={PR_SET_DUMPABLE}:1=1", "user-namespace", "writable"),
    # One that the jailer keeps for itself.
    (f"prctl:0={PR_CAPBSET_DROP}:1={CAP_SYS_ADMIN}", "capabilities", "bounding set"),
    (f"prctl:0={PR_CAP_AMBIENT}", "capabilities", "ambient"),
    (f"prctl:0={PR_SET_SECUREBITS}:1=1/1", "capabilities", "secure bits"),
    # With 0 in place of an error: it seems to be done, and is not.
    ("capset!0", "capabilities", "not empty"),
    (f"prctl:0={PR_SET_NO_NEW_PRIVS}!0", "landlock", "Landlock"),
    (f"prctl:0={PR_SET_PDEATHSIG}", "parent-death", "death signal"),
    (f"prctl:0={PR_SET_NO_NEW_PRIVS}", "no-new-privs", "no_new_privs"),
    # SECCOMP_SET_MODE_FILTER; the jailer itself only asks for sizes.
    ("seccomp:0=1:1~0", "seccomp", "with a listener"),
    # Of process 1, which takes no listener.
    ("seccomp:0=1:1=0", "seccomp", "load the filter reaper"),
    ("setsid", "exec", "session"),
]

# The same for what only its file, its turn or its caller's name tells from calls that go on.
BEFORE_THE_CHILD = 2  # the jailer's own come first: one at its start
BEHIND_THE_TEMPLATES = 1 + len(glob.glob(f"{RUNTIMES}/*/usr/lib/sandboxrun/version"))  # one of each
ASKED = [
    ({"rule": "write", "file": "*/oom_score_adj"}, "rlimits", "set oom_score_adj"),
    ({"rule": "openat", "file": "self/oom_score_adj"}, "rlimits", "set oom_score_adj"),
    ({"rule": "write", "file": "*/setgroups"}, "user-namespace", "self/setgroups"),
    ({"rule": "write", "file": "*/uid_map"}, "user-namespace", "self/uid_map"),
    ({"rule": "write", "file": "*/gid_map"}, "user-namespace", "self/gid_map"),
    *(({"rule": "mount", "file": place}, "mounts", place)
      for place in ("/tmp", "/dev/shm", "/home/sandbox", "/proc")),
    ({"rule": "capset", "caller": "sandboxrun-jail", "since": BEFORE_THE_CHILD}, "capabilities",
     "empty the capability sets"),
    ({"rule": f"setns:1={CLONE_NEWNS}", "since": BEHIND_THE_TEMPLATES}, "namespaces",
     "runtime's mount namespace"),
    ({"rule": f"prctl:0={PR_SET_DUMPABLE}:1=0", "since": BEFORE_THE_CHILD}, "parent-death",
     "dumpable"),
    # Of a sandbox's pipes the first is for the end of its main process.
    ({"rule": "pipe2", "every": 2}, "descriptors", "the lifeline"),
]  # fmt: skip

OF_A_SANDBOX = "*/jailer-*/*-*-*-*-*/"


def limits(names):
    return [({"rule": "write", "file": OF_A_SANDBOX + name}, "cgroup", f"set {name} to ")
            for name in names]


# By the version of the cgroups: each limit, and the way in.
ASKED_BY_VERSION = {
    1: [*limits(("memory.limit_in_bytes", "memory.memsw.limit_in_bytes",
                 "memory.kmem.tcp.limit_in_bytes", "cpu.cfs_quota_us", "pids.max",
                 "cgroup.event_control")),
        ({"rule": "openat", "file": "*/memory.oom_control"}, "cgroup", "open memory.oom_control"),
        ({"rule": "eventfd2"}, "cgroup", "create an eventfd"),
        ({"rule": "openat", "file": "*-*-*-*-*/tasks"}, "cgroup", "open tasks"),
        ({"rule": "write", "file": OF_A_SANDBOX + "tasks"}, "cgroup", "enter the cgroup")],
    # Into it by clone3(2), for which tests/jail/test_fallbacks.py has a case.
    2: limits(("memory.max", "memory.swap.max", "memory.oom.group", "cpu.max", "pids.max")),
}  # fmt: skip

# What the jailer needs for itself as well: without it, it does not even start.
AT_START = [
    (f"prctl:0={PR_CAPBSET_DROP}", "bounding set"),
    (f"prctl:0={PR_SET_DUMPABLE}:1=0", "dumpable"),
    (f"prlimit64:1={RLIMIT_CORE}", "RLIMIT_CORE"),
    ("capset", "capabilities"),
]


def setUpModule():
    need_root()


def new_jailer(wrapper=()):
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, wrapper=wrapper)


def jailer_without(rule):
    """A jailer for which the system call fails, and for its children. It has no need to raise its own
    limit on open files, which would be such a call."""
    raised = 'ulimit -S -n "$(ulimit -H -n)"; exec "$@"'
    return new_jailer(("sh", "-c", raised, "sh", *denying(rule)))


# Kernels that don't count swap per cgroup lack these, and hosts with one must have no swap.
OF_SWAP = ("memory.memsw.limit_in_bytes", "memory.swap.max")


def asked_cases():
    """All cases for the cgroups that this machine has."""
    with new_jailer() as jailer:
        cases = ASKED + ASKED_BY_VERSION[jailer.hello["cgroup_version"]]
        missing = [name for name in OF_SWAP if not any(
            os.path.exists(os.path.join(slot, name)) for slot in sandboxes_below(PARENT, depth=1))]
    return [case for case in cases if os.path.basename(case[0].get("file", "")) not in missing]


class TestLocks(unittest.TestCase):
    def assert_settles(self, jailer, most):
        """What belonged to a sandbox goes soon after the answer."""
        end = time.monotonic() + 10
        while (count := len(descriptors_of(jailer)[0])) > most:
            self.assertLess(time.monotonic(), end, f"{count} descriptors, not {most}")
            time.sleep(0.01)

    def check_refused(self, jailer, lock, text):
        first = None
        for _ in range(5):
            result = jailer.run("print('ran')")
            self.assertFalse(result.created)
            self.assertEqual(result.refused["lock"], lock, result.refused)
            self.assertIn(text, result.refused["text"])
            self.assertEqual(sandboxes_below(PARENT), [])
            self.assertNotIn("reaper", children_of(jailer))
            first = first or len(descriptors_of(jailer)[0])
        # With the second run the jailer gets its helper: a socket and a pidfd; no more after that.
        self.assert_settles(jailer, first + 2)

    def test_each_lock_is_named_when_it_can_not_be_set(self):
        for rule, lock, text in CASES:
            with self.subTest(rule=rule), jailer_without(rule) as jailer:
                self.check_refused(jailer, lock, text)
                self.assertEqual(jailer.stop(), 0)
            self.assertTrue(parent_is_gone(PARENT))

    def test_files_turns_and_callers(self):
        for options, lock, text in asked_cases():
            with self.subTest(**options), new_jailer(denying_asked(**options)) as jailer:
                self.check_refused(jailer, lock, text)
                self.assertEqual(jailer.stop(), 0)
            self.assertTrue(parent_is_gone(PARENT))

    def test_a_network_namespace_that_was_made_ahead(self):
        # The helper that makes them has a name of its own. The first runs find none yet.
        rule = {"rule": f"setns:1={CLONE_NEWNET}", "caller": "sandboxrun-jail"}
        with new_jailer(denying_asked(**rule)) as jailer:
            end = time.monotonic() + 10 * PATIENCE
            while "network namespace" not in (refused := jailer.run("")).refused["text"]:
                self.assertEqual(refused.refused["lock"], "seccomp", refused)
                self.assertLess(time.monotonic(), end, "no run has found one")
            self.assertEqual(refused.refused["lock"], "namespaces", refused)
            self.assertEqual(sandboxes_below(PARENT), [])

    def test_what_the_jailer_needs_too_is_named_at_its_start(self):
        for rule, text in AT_START:
            with self.subTest(rule=rule):
                with self.assertRaisesRegex(RuntimeError, text):
                    jailer_without(rule).__enter__()
            self.assertTrue(parent_is_gone(PARENT))

    def test_the_wrapper_itself_changes_nothing(self):
        # A call that nobody makes: the cases above fail for their own reason.
        with jailer_without("signalfd4:0=77") as jailer:
            self.assertEqual(jailer.run("print('ran')").stdout, b"ran\n")

    def test_the_wrapper_that_is_asked_changes_nothing_before_the_last_lock(self):
        # Files that nobody writes to. There the program's own listener is one too many.
        with new_jailer(denying_asked("write", file="*/nobody")) as jailer:
            result = jailer.run("print('ran')")
            self.assertEqual(result.refused["lock"], "seccomp", result.refused)
            self.assertEqual(result.refused["errnum"], errno.EBUSY)

    def test_the_lifeline_alone_ends_a_sandbox_whose_jailer_dies(self):
        # With 0 in place of an error: no death signal is set, and nobody hears of that.
        with jailer_without(f"prctl:0={PR_SET_PDEATHSIG}!0") as jailer:
            jailer.connection.create(sandbox := protocol.new_id())
            kind, fields, fds = jailer.connection.receive_about(sandbox)
            self.assertEqual(kind, protocol.CREATED, fields)
            self.assertEqual(len(processes_below(PARENT)), 2)
            jailer.process.send_signal(signal.SIGKILL)
            end = time.monotonic() + 10 * PATIENCE
            while processes_below(PARENT):
                self.assertLess(time.monotonic(), end, "it lives on without a jailer")
                time.sleep(0.005)
            for fd in fds:
                os.close(fd)
        with new_jailer():
            self.assertEqual(sandboxes_below(PARENT), [])

    def test_a_cgroup_that_can_not_be_made(self):
        with protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS) as jailer:
            sandbox = protocol.new_id()
            taken = [os.path.join(slot, sandbox) for slot in sandboxes_below(PARENT, depth=1)]
            os.mkdir(taken[-1])
            jailer.connection.create(sandbox)
            kind, fields, _ = jailer.connection.receive_about(sandbox)
            self.assertEqual((kind, fields["lock"]), (protocol.REFUSED, "cgroup"), fields)
            self.assertIn(sandbox, fields["text"])
            self.assertEqual(jailer.run("print('ran')").stdout, b"ran\n")

    def test_a_program_that_can_not_be_executed(self):
        with tempfile.TemporaryDirectory() as runtimes:
            root = os.path.join(runtimes, "broken")
            for path in ("tmp", "proc", "dev", "home/sandbox", "usr/bin", "usr/lib/sandboxrun"):
                os.makedirs(os.path.join(root, path))
            for path, text in (("version", "0"), ("runner.pyc", "")):
                with open(os.path.join(root, "usr/lib/sandboxrun", path), "w",
                          encoding="ascii") as file:
                    file.write(text)
            interpreter = os.path.join(root, "usr/bin/python3")
            with open(interpreter, "w", encoding="ascii") as file:
                file.write("no program")
            os.chmod(interpreter, 0o755)
            with protocol.Jailer(program("sandboxrun-jailer"), runtimes, *OPTIONS) as jailer:
                result = jailer.run("", runtime="broken")
        self.assertEqual(result.refused["lock"], "exec", result.refused)
        self.assertIn("/usr/bin/python3", result.refused["text"])
        shutil.rmtree(runtimes, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
