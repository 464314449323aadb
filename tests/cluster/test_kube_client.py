# SPDX-License-Identifier: Apache-2.0
"""The API client of common/kube against a real API server, over HTTP/2."""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from helpers.cluster import BIN
from helpers.controlplane import ControlPlane

PROBE = os.path.join(os.path.dirname(BIN), "tests/unit/kube_probe")


class TestKubeClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="sandboxrun-kube-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.plane = ControlPlane(os.path.join(cls.dir, "plane"))
        cls.plane.start()
        cls.addClassCleanup(lambda: cls.plane.stop())

    def start(self, count, size):
        """Makes, changes, reads and deletes so many ConfigMaps of that size, all at once."""
        return subprocess.Popen([PROBE, self.plane.kubeconfig(), str(count), str(size)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def judge(self, probe, count, timeout=120):
        out, err = probe.communicate(timeout=timeout)
        self.assertEqual(probe.returncode, 0, err)
        seen = json.loads(out)
        # Every write was answered, and the watch has shown each of them.
        self.assertEqual(seen["refused"], 0, err)
        self.assertEqual(seen["changed"], count, seen)
        self.assertEqual(seen["live"], 0, seen)
        return seen

    def test_a_burst_on_one_connection(self):
        seen = self.judge(self.start(300, 1000), 300)
        # Its own, and the pair that libcurl wakes itself with.
        self.assertLessEqual(seen["sockets"], 3)
        self.assertEqual(seen["lists"], 1)

    def test_large_bodies_both_ways(self):
        self.judge(self.start(20, 900000), 20)

    def test_the_server_restarts_in_the_middle(self):
        probe = self.start(2000, 100)
        time.sleep(0.5)
        self.plane.kill()
        self.plane.start()
        out, err = probe.communicate(timeout=120)
        self.assertEqual(probe.returncode, 0, err)
        seen = json.loads(out)
        # A write whose answer was lost is made again: "AlreadyExists" and "NotFound" are answers.
        self.assertEqual(seen["live"], 0, seen)
        self.assertGreaterEqual(seen["watches"], 2)


if __name__ == "__main__":
    unittest.main()
