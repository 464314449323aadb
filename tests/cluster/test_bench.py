# SPDX-License-Identifier: Apache-2.0
"""tests/bench/run.sh at its smallest: every figure is there, and whoever is not there is named as
missing. How large the figures are is not looked at."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

from helpers.local import ROOT, need_root

sys.path.append(os.path.join(ROOT, "tests/bench"))

import api
import bench
import contenders
import page
import plot
import table

OWN = ["cold", "fresh", *["forked"] * contenders.has_modes()]
HERE = ["bare", "prestarted", *OWN, "bubblewrap"]
SUMMARY = ("bare_ms", "cold_ms", "cold_p99_ms", "cold_over_bare", "quiet_cold_ms",
           "bubblewrap_over_bare", "warm_output_p50_ms", "warm_output_p99_ms",
           "warm_result_over_bare_prestarted", "warm_private_kib", "runs_per_s", "best_peer",
           "best_peer_runs_per_s", "throughput_over_best_peer")


class TestRunsOnANode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_root()
        # A process of its own, since it becomes the parent of all that is left behind below it.
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "tests/bench/bench.py"), "--json", "--smallest",
             "--only", ",".join(HERE)],
            env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "tests")), capture_output=True,
            text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
        cls.figures = json.loads(done.stdout)
        cls.rows, cls.stages = cls.figures["rows"], cls.figures["stages"]

    def test_every_row_has_its_figures(self):
        self.assertEqual(list(self.rows), HERE)
        for name, row in self.rows.items():
            with self.subTest(name):
                self.assertNotIn("missing", row)
                for kind in ("latency", "after_idle"):
                    self.assertGreater(row[kind]["end_ms"]["p50"], row[kind]["output_ms"]["p50"])
                    self.assertGreater(row[kind]["end_over_bare"], 0)
                self.assertIn("cpu_ms_per_run", row["at_once"]["2"])
                for used in row["memory"].values():
                    self.assertGreater(used["private_kib"], 0)
        for name in OWN[1:]:
            self.assertEqual(list(self.rows[name]["memory"]), ["waiting", "running"])
        self.assertEqual(list(self.rows["prestarted"]["memory"]), ["waiting"])
        self.assertEqual(list(self.rows["cold"]["memory"]), ["running"])

    def test_a_run_of_a_pool_is_a_warm_one(self):
        for name in OWN[1:]:
            self.assertEqual(self.rows[name]["latency"]["cold_among_them"], 0)
        self.assertNotIn("cold_among_them", self.rows["cold"]["latency"])

    def test_the_summary_is_complete(self):
        for name in SUMMARY:
            with self.subTest(name):
                self.assertIsNotNone(self.figures.get(name))
        self.assertEqual(self.figures["best_peer"], "bubblewrap")

    def test_stages_are_told_in_their_order(self):
        self.assertEqual(list(self.stages), OWN)
        for stages in self.stages.values():
            names = [name for name in stages if name not in ("leave", "teardown", "reap",
                                                             "process_1", "wake", "end")]
            self.assertEqual(names, ["hand_over", "limits", "write", "interpreter", "output",
                                     "sweep"])

    def test_what_is_drawn_names_every_row(self):
        root = xml.fromstring(plot.draw(self.rows))
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        drawn = table.draw(self.figures), page.draw(self.figures)
        for row in self.rows.values():
            self.assertIn(row["title"], texts)
            for text in drawn:
                self.assertIn(row["title"], text)

    def test_a_peer_that_is_not_there_is_said_to_be_missing(self):
        with unittest.mock.patch("contenders.shutil.which", return_value=None):
            peers = contenders.peers(self.enterContext(tempfile.TemporaryDirectory()), "print(1)")
        self.assertEqual({peer.name: peer.missing for peer in peers},
                         dict.fromkeys(bench.PEERS, "not installed"))


class TestThePath(unittest.TestCase):
    def test_runs_and_bare_ones_take_turns(self):
        """The floor's are left alone by the real controller, and the real ones by the floor's."""
        need_root()
        figures = api.measure(3)
        self.assertEqual(figures["create_to_finished_runs"], 3)
        for name in ("create_to_finished_p50_ms", "create_to_finished_floor_p50_ms",
                     "create_to_finished_over_floor", "stage_assign_p50_ms", "stage_run_p99_ms",
                     "stage_write_back_p50_ms", "controller_rss_kib", "jailer_pss_kib"):
            with self.subTest(name):
                self.assertGreater(figures[name], 0)
