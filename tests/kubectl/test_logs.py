# SPDX-License-Identifier: Apache-2.0
"""Logs: lines of JSON, and one run followed through all of them by its sandbox id."""

import re
import unittest

from shared import KubectlCase

TIME = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")
LEVELS = ("debug", "info", "warn", "error")


class TestLogs(KubectlCase):
    def programs(self):
        cluster = self.cluster
        return {"controller": cluster.controller, "agent": cluster.node.agent,
                "jailer": cluster.node.jailer}

    def test_each_line_has_time_level_component_and_message(self):
        for component, process in self.programs().items():
            with self.subTest(program=component):
                lines = self.cluster.lines(process)
                self.assertGreater(len(lines), 0)
                for line in lines:
                    self.assertRegex(line["time"], TIME)
                    self.assertIn(line["level"], LEVELS)
                    self.assertEqual(line["component"], component)
                    self.assertTrue(line["msg"])

    def test_one_run_is_followed_by_its_sandbox(self):
        run = self.create("followed", "print(1)")
        status = self.cluster.wait_finished("followed")["status"]
        sandbox = status["sandboxID"]
        cluster = self.cluster
        cluster.wait_for_line(cluster.node.agent, "run finished", sandbox)
        cluster.wait_for_line(cluster.node.jailer, "sandbox gone", sandbox)
        lines = [line for process in self.programs().values() for line in cluster.lines(process)
                 if line.get("sandbox") == sandbox]
        lines.sort(key=lambda line: line["time"])
        self.assertEqual([(line["component"], line["msg"]) for line in lines][0],
                         ("controller", "assigned the run"))
        self.assertEqual({line["component"] for line in lines}, {"controller", "agent", "jailer"})
        for line in lines:
            if line["component"] != "jailer":
                self.assertEqual((line["namespace"], line["run"], line["uid"]),
                                 ("default", "followed", run["metadata"]["uid"]))
        gone, = [line for line in lines if line["component"] == "jailer"]
        self.assertEqual(gone["end"], "exited")
        self.assertNotIn("followed", str(gone))

    def test_no_line_carries_what_a_program_read_or_wrote(self):
        secret = "tell-nobody-8d1f"
        self.create("discreet", f"import sys\nprint('{secret}', sys.stdin.read())\n",
                    stdin=secret, args=[secret], env=[{"name": "A", "value": secret}])
        sandbox = self.cluster.wait_finished("discreet")["status"]["sandboxID"]
        self.cluster.wait_for_line(self.cluster.node.jailer, "sandbox gone", sandbox)
        for component, process in self.programs().items():
            with self.subTest(program=component):
                self.assertNotIn(secret, process.log())

    def test_a_run_that_waits_in_vain_is_told_of(self):
        uid = self.cluster.get("queued")["metadata"]["uid"]
        ended, = [line for line in self.cluster.lines(self.cluster.controller)
                  if line.get("uid") == uid and line["msg"] == "ended the run"]
        self.assertEqual((ended["run"], ended["reason"]), ("queued", "QueueTimeout"))
        self.assertNotIn("sandbox", ended)


if __name__ == "__main__":
    unittest.main()
