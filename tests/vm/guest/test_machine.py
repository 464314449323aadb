# SPDX-License-Identifier: Apache-2.0
"""The virtual machine is what the other tests take it for."""

import unittest


class TestMachine(unittest.TestCase):
    def test_the_only_cgroups_are_version_2_with_every_controller(self):
        with open("/proc/self/mounts", encoding="utf-8") as file:
            kinds = [line.split()[2] for line in file]
        self.assertEqual([kind for kind in kinds if kind.startswith("cgroup")], ["cgroup2"])
        with open("/sys/fs/cgroup/cgroup.controllers", encoding="utf-8") as file:
            controllers = file.read().split()
        self.assertLessEqual({"cpu", "memory", "pids", "io", "cpuset"}, set(controllers))
