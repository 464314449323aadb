# SPDX-License-Identifier: Apache-2.0
"""A crash under a piped core_pattern: the kernel would start the handler as root on the host."""

import os
import resource
import signal
import tempfile
import unittest

from helpers.local import run_status

PATTERN = "/proc/sys/kernel/core_pattern"
MARK = "started"

# In every way that dumps core: a child, the program itself, from a directory of its own.
CRASHES = """
import os, signal
os.chdir("/tmp")
for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGFPE):
    child = os.fork()
    if child == 0:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    if os.WCOREDUMP(os.waitpid(child, 0)[1]):
        print("dumped", number)
os.kill(os.getpid(), signal.SIGSEGV)
"""


def crash_outside(limit):
    """A process of this machine crashes with a soft limit on core files; whether it dumped."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (limit, resource.RLIM_INFINITY))
        os.kill(os.getpid(), signal.SIGSEGV)
    return os.WCOREDUMP(os.waitpid(child, 0)[1])


class TestPipedHandler(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(dir="/run"))
        self.handler = os.path.join(self.directory, "handler")
        with open(self.handler, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\ncat >/dev/null\n: >{self.directory}/{MARK}-$1-$2\n")
        os.chmod(self.handler, 0o755)
        with open(PATTERN, encoding="ascii") as file:
            self.addCleanup(self.write, PATTERN, file.read())
        self.write(PATTERN, f"|{self.handler} %u %s")
        # The kernel waits for the handler, so that a look behind the crash sees what it did.
        self.addCleanup(self.write, "/proc/sys/kernel/core_pipe_limit", "0")
        self.write("/proc/sys/kernel/core_pipe_limit", "8")

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def started(self):
        return [name for name in os.listdir(self.directory) if name.startswith(MARK)]

    def test_the_handler_is_started_for_others(self):
        """Or the tests below would show nothing. A limit of 0 is no protection from a pipe."""
        for limit in (resource.RLIM_INFINITY, 0):
            for name in self.started():
                os.unlink(os.path.join(self.directory, name))
            crash_outside(limit)
            self.assertEqual(len(self.started()), 1, limit)

    def test_a_limit_of_one_starts_none(self):
        self.assertFalse(crash_outside(1))
        self.assertEqual(self.started(), [])

    def test_no_crash_in_a_sandbox_starts_it(self):
        status = run_status(CRASHES)
        self.assertEqual((status["reason"], status["exitCode"]), ("Signaled", 139), status)
        self.assertEqual(status["stdout"], "")
        self.assertEqual(self.started(), [])


if __name__ == "__main__":
    unittest.main()
