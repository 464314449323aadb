# SPDX-License-Identifier: Apache-2.0
"""What the jailer makes of a kernel without a newer call: it does without where it can, and is
clear where it can't. Each call is refused to see it."""

import errno
import os
import unittest

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import parent_is_gone
from helpers.deny import denying
from helpers.local import RUNTIMES, need_root, program

PARENT = "sandboxrun-fallbacks"
# Other jailers of this machine have other parents, and so must have other uids.
OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", "2100600000")

SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 1, 0x20

# Linux 5.14 has them all, so there is nothing to fall back to: the call, and words of the refusal
# of a run, or (True) of the jailer's own start.
NEEDED = [
    ("clone3", False, "new pid namespace"),
    ("close_range", False, "close the descriptors"),
    ("pidfd_open", True, "by which sandboxes are ended"),
    ("pidfd_send_signal", True, "by which sandboxes are ended"),
    ("openat2", True, "no usable runtime"),
    ("open_tree", True, "clone the mount"),
    ("move_mount", True, "attach the root"),
    ("mount_setattr", True, "read-only"),
]

# Makes a call that is refused, with a signal on its way, and says what came of it.
REFUSED = """
import ctypes, errno, os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(20):
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    assert libc.ptrace(0, 0, 0, 0) == -1
    assert ctypes.get_errno() in (errno.EPERM, errno.EINTR), ctypes.get_errno()
print("refused")
"""


def setUpModule():
    need_root()


def without(rule):
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS,
                           wrapper=denying(rule))


class TestDoneWithout(unittest.TestCase):
    def test_the_flag_of_the_listener(self):
        """Before Linux 5.19 the kernel doesn't know it, which is EINVAL and nothing else."""
        rule = (f"seccomp:0={SECCOMP_SET_MODE_FILTER}"
                f":1={SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV:#x}"
                f"/{SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV:#x}")
        with without(f"{rule}!{errno.EINVAL}") as jailer:
            result = jailer.run(REFUSED)
        self.assertEqual((result.stdout, result.stderr), (b"refused\n", b""))
        with without(f"{rule}!{errno.EPERM}") as jailer:
            self.assertEqual(jailer.run(REFUSED).refused["lock"], "seccomp")

    def test_landlock(self):
        for number in (errno.ENOSYS, errno.EOPNOTSUPP):
            with self.subTest(errno=number), without(f"landlock_create_ruleset!{number}") as jailer:
                self.assertEqual(jailer.hello["landlock_abi"], 0)
                self.assertEqual(jailer.run("print('ran')").stdout, b"ran\n")
                self.assertIn("sandboxes have no Landlock", jailer.log_text())


class TestNeeded(unittest.TestCase):
    def refusal(self, call, at_start):
        if at_start:
            with self.assertRaises(RuntimeError) as caught:
                without(f"{call}!{errno.ENOSYS}").__enter__()
            return str(caught.exception)
        with without(f"{call}!{errno.ENOSYS}") as jailer:
            result = jailer.run("print('ran')")
            self.assertFalse(result.created)
            return result.refused["text"]

    def test_nothing_runs_without_them(self):
        for call, at_start, words in NEEDED:
            with self.subTest(call=call):
                text = self.refusal(call, at_start)
                self.assertIn(words, text)
                self.assertIn(os.strerror(errno.ENOSYS), text)
            self.assertTrue(parent_is_gone(PARENT))


if __name__ == "__main__":
    unittest.main()
