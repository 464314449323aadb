# SPDX-License-Identifier: Apache-2.0
"""tests/bench/scale.py at its smallest: every figure is there; what no speed changes is right."""

import json
import os
import subprocess
import sys
import unittest

from helpers.cluster import ROOT

FIELDS = ("assignments_per_s", "writes_per_s_of_bare_writer", "created_to_assigned_p50_ms",
          "created_to_assigned_p99_ms", "created_to_finished_p50_ms",
          "created_to_finished_p99_ms", "controller_rss_kib", "requests_per_run")


class ScaleBench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        bench = subprocess.run(
            [sys.executable, os.path.join(ROOT, "tests/bench/scale.py"), "--json",
             "--agents", "2,5", "--objects", "20", "--pairs", "1", "--flow", "10",
             "--rate", "20", "--idle", "0.1"],
            env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "tests")),
            capture_output=True, text=True, timeout=180)
        if bench.returncode != 0:
            raise AssertionError(f"exit status {bench.returncode}\n{bench.stdout}{bench.stderr}")
        cls.figures = json.loads(bench.stdout)

    def test_every_figure_is_told_of_every_size(self):
        for name in FIELDS:
            with self.subTest(name):
                self.assertEqual(list(self.figures[name]), ["20"])
                self.assertGreater(self.figures[name]["20"], 0)

    def test_both_ways_to_tell_an_agent_are_told_of_every_number_of_agents(self):
        self.assertEqual(list(self.figures["fanout"]), ["2", "5"])
        for ways in self.figures["fanout"].values():
            self.assertEqual(sorted(ways), ["hint", "watch"])
            for figures in ways.values():
                self.assertIn("apiserver_cpu_ms_per_run", figures)

    def test_a_short_run_costs_three_requests(self):
        size = self.figures["sizes"]["20"]
        self.assertEqual(size["conflicts"], 0)
        self.assertEqual(size["requests_per_run"], 3)

    def test_a_hint_costs_a_read_and_at_most_a_patch_more(self):
        for ways in self.figures["fanout"].values():
            self.assertEqual(ways["watch"]["requests_per_run"], 3)
            self.assertGreater(ways["hint"]["requests_per_run"], 4)
            self.assertLessEqual(ways["hint"]["requests_per_run"], 5)


if __name__ == "__main__":
    unittest.main()
