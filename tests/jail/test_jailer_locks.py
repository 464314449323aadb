# SPDX-License-Identifier: Apache-2.0
"""A lock that can't be set fails the run and is named; nothing runs without it, nothing is left."""

import os
import shutil
import tempfile
import time
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import parent_is_gone, sandboxes_below
from helpers.deny import denying
from helpers.jailer_process import children_of, descriptors_of
from helpers.local import RUNTIMES, program

PARENT = "sandboxrun-locks"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100000000")

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
MS_TMPFS, MS_PROC = 2 | 4, 1 | 2 | 4 | 8
PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 28, 38, 47
PR_SET_DUMPABLE, PR_CAPBSET_DROP = 4, 24
SECBIT_NO_SETUID_FIXUP = 4
RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_NICE = 1, 4, 6, 8, 13

# The system call that is refused, the lock that must be named, a word of the text.
CASES = [
    ("close_range", "descriptors", "close"),
    (f"unshare:0={CLONE_NEWNET}/{CLONE_NEWNET}", "namespaces", "new namespaces"),
    ("sethostname", "namespaces", "host name"),
    (f"mount:3={MS_TMPFS}", "mounts", "/tmp"),
    (f"mount:3={MS_PROC}", "mounts", "/proc"),
    (f"prlimit64:1={RLIMIT_NICE}", "rlimits", "RLIMIT_NICE"),
    (f"prlimit64:1={RLIMIT_NPROC}", "rlimits", "RLIMIT_NPROC"),
    (f"prlimit64:1={RLIMIT_FSIZE}", "rlimits", "RLIMIT_FSIZE"),
    (f"prlimit64:1={RLIMIT_MEMLOCK}", "rlimits", "RLIMIT_MEMLOCK"),
    ("setgroups", "user-namespace", "groups"),
    ("setresgid", "user-namespace", "gid"),
    ("setresuid", "user-namespace", "uid"),
    (f"unshare:0={CLONE_NEWUSER}", "user-namespace", "user namespace"),
    (f"prctl:0={PR_SET_SECUREBITS}:1={SECBIT_NO_SETUID_FIXUP}", "user-namespace", "capabilities"),
    (f"prctl:0={PR_CAP_AMBIENT}", "capabilities", "ambient"),
    (f"prctl:0={PR_SET_SECUREBITS}:1=1/1", "capabilities", "secure bits"),
    # With 0 in place of an error: it seems to be done, and is not.
    ("capset!0", "capabilities", "not empty"),
    (f"prctl:0={PR_SET_NO_NEW_PRIVS}!0", "landlock", "Landlock"),
    (f"prctl:0={PR_SET_PDEATHSIG}", "parent-death", "death signal"),
    (f"prctl:0={PR_SET_NO_NEW_PRIVS}", "no-new-privs", "no_new_privs"),
    # SECCOMP_SET_MODE_FILTER; the jailer itself only asks for sizes.
    ("seccomp:0=1", "seccomp", "filter"),
    ("setsid", "exec", "session"),
]

# What the jailer needs for itself as well: without it, it does not even start.
AT_START = [
    (f"prctl:0={PR_CAPBSET_DROP}", "bounding set"),
    (f"prctl:0={PR_SET_DUMPABLE}:1=0", "dumpable"),
    (f"prlimit64:1={RLIMIT_CORE}", "RLIMIT_CORE"),
    ("capset", "capabilities"),
]


def jailer_without(rule):
    """A jailer for which the system call fails, and for its children."""
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS,
                           wrapper=denying(rule))


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
