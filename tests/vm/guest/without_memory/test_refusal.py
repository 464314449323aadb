# SPDX-License-Identifier: Apache-2.0
"""On a kernel without the memory controller nothing runs, and the reason is named."""

import json
import unittest

from helpers.local import RUNTIMES, sandboxrun


class TestRefusal(unittest.TestCase):
    def test_the_kernel_has_no_memory_controller(self):
        with open("/sys/fs/cgroup/cgroup.controllers", encoding="utf-8") as file:
            self.assertNotIn("memory", file.read().split())

    def test_a_run_is_refused(self):
        done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "/src/examples/hello.yaml")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertRegex(done.stderr, r"(?i)cgroup.*memory")

    def test_the_doctor_names_the_controller(self):
        done = sandboxrun("doctor", "--runtimes-dir", RUNTIMES, "-o", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        failed = {name for name, check in checks.items()
                  if check["outcome"] == "failed" and check["level"] == "required"}
        self.assertEqual(failed, {"cgroup.version", "cgroup.memory"})
        self.assertIn("cgroup_disable=", checks["cgroup.memory"]["advice"])
        self.assertEqual(checks["cgroup.limits"]["outcome"], "skipped")


if __name__ == "__main__":
    unittest.main()
