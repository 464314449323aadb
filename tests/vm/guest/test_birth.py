# SPDX-License-Identifier: Apache-2.0
"""A sandbox is born in its cgroup: the kernel's own trace shows no process moved into one. A move
would cost a grace period, and let the first instructions run without limits."""

import contextlib
import os
import subprocess
import unittest

import cgroups
from helpers.local import run_status

TRACING = "/sys/kernel/tracing"
EVENT = os.path.join(TRACING, "events/cgroup/cgroup_attach_task/enable")


@contextlib.contextmanager
def moves():
    """Lines of the trace, one for each process that was moved from cgroup to cgroup meanwhile."""
    lines = []

    def write(path, text):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    write(os.path.join(TRACING, "trace"), "")
    write(EVENT, "1")
    try:
        yield lines
    finally:
        write(EVENT, "0")
    lines += [line for line in cgroups.read(TRACING, "trace").splitlines()
              if "cgroup_attach_task:" in line]


@unittest.skipUnless(os.path.exists(EVENT), "this kernel doesn't trace cgroups")
class TestBirth(unittest.TestCase):
    def test_a_move_is_seen(self):
        with cgroups.cgroup("moved") as path:
            with moves() as lines:
                subprocess.run(["sh", "-c", f"echo $$ >{path}/cgroup.procs"], check=True)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn("dst_path=/moved/inner", lines[0])

    def test_no_sandbox_is_moved_into_its_cgroup(self):
        with moves() as lines:
            self.assertEqual(run_status("print(1)")["reason"], "Completed")
        self.assertEqual(lines, [])


if __name__ == "__main__":
    unittest.main()
