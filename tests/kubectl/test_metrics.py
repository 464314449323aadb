# SPDX-License-Identifier: Apache-2.0
"""/metrics of all programs: as Prometheus reads and wants it, and as docs/observability.md says."""

import json
import os
import re
import subprocess
import unittest

from helpers.cluster import ROOT, http_get
from helpers.wait import wait_until

from shared import REAL, KubectlCase

PROGRAMS = ("controller", "agent", "resolver")
ROW = re.compile(r"(?m)^\| `(sandboxrun_\w+)` \| (\w+) \|([^|]*)\| ([^|]+) \|$")
MAX_SERIES = 24


def documented():
    """program -> name -> (type, labels), from the tables of the document."""
    with open(os.path.join(ROOT, "docs/observability.md"), encoding="utf-8") as file:
        text = file.read()
    found = {}
    for program in PROGRAMS:
        section = re.split(r"(?m)^##+ ", text.split(f"### Metrics of the {program}\n")[1])[0]
        found[program] = {
            name: (kind, {label: set(re.findall(r"`([^`]+)`", values))
                          for label, values in re.findall(r"`(\w+)`: ([^;]+)", labels)})
            for name, kind, labels, _ in ROW.findall(section)}
    return found


class TestMetrics(KubectlCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        resolver, port = cls.cluster.start_resolver("resolver-m")
        cls.addClassCleanup(resolver.stop)
        ports = {"controller": cls.cluster.controller_port, "agent": cls.cluster.agent_port,
                 "resolver": port}
        wait_until("the resolver's metrics", lambda: cls.listens(port))
        # The last run's last write may still be under way.
        wait_until("the results to be written", lambda: cls.scrape(ports["agent"])[
            "sandboxrun_agent_writes_pending"]["total"] == 0)
        cls.metrics = {program: cls.scrape(port) for program, port in ports.items()}

    @staticmethod
    def listens(port):
        try:
            return http_get(f"http://127.0.0.1:{port}/healthz")
        except OSError:
            return None

    @classmethod
    def scrape(cls, port):
        _, text = http_get(f"http://127.0.0.1:{port}/metrics")
        done = subprocess.run([cls.cluster.plane.program("metricscheck")], input=text, text=True,
                              capture_output=True, timeout=30)
        if done.returncode != 0:
            raise AssertionError(f"port {port}: {done.stderr}")
        return {family["name"]: family for family in json.loads(done.stdout)}

    def test_all_are_documented_and_all_that_is_documented_is_there(self):
        for program, rows in documented().items():
            with self.subTest(program=program):
                self.assertEqual(sorted(rows), sorted(self.metrics[program]))

    def test_types_and_label_values_are_as_documented(self):
        for program, rows in documented().items():
            for name, (kind, labels) in rows.items():
                with self.subTest(metric=name):
                    family = self.metrics[program][name]
                    self.assertEqual(family["type"], kind)
                    self.assertEqual({label: set(values)
                                      for label, values in family["labels"].items()}, labels)

    def test_labels_are_few_and_say_nothing_of_tenants(self):
        names = {"default", "hello", "exits-3", self.cluster.node.name, "python3.12"}
        for families in self.metrics.values():
            for name, family in families.items():
                with self.subTest(metric=name):
                    self.assertLessEqual(len(family["labels"]), 1)
                    for values in family["labels"].values():
                        self.assertLessEqual(len(set(values)), MAX_SERIES)
                        self.assertFalse(names & set(values))

    def test_every_stage_of_the_runs_was_measured(self):
        controller, agent = self.metrics["controller"], self.metrics["agent"]
        ran = len(REAL) - 1
        for name in ("queue", "assign"):
            self.assertGreaterEqual(
                controller[f"sandboxrun_controller_{name}_duration_seconds"]["total"], ran)
        self.assertGreaterEqual(
            controller["sandboxrun_controller_total_duration_seconds"]["total"], len(REAL))
        stages = agent["sandboxrun_agent_stage_duration_seconds"]
        # deliver, start, mark, run and write-back of each
        self.assertGreaterEqual(stages["total"], 5 * ran)
        self.assertGreaterEqual(agent["sandboxrun_agent_runs_finished_total"]["total"], ran)
        self.assertGreaterEqual(controller["sandboxrun_controller_runs_failed_total"]["total"], 1)
        self.assertGreater(agent["sandboxrun_denied_total"]["total"], 0)


if __name__ == "__main__":
    unittest.main()
