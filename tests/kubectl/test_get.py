# SPDX-License-Identifier: Apache-2.0
"""`kubectl get`: what is seen of runs in every state, of nodes, and while it changes."""

import re
import unittest

from shared import KUBECTLS, NODE, REAL, KubectlCase, failed, headers, running, scheduled, table

COLUMNS = ["NAME", "PROFILE", "PHASE", "REASON", "EXIT", "NODE", "WALL-MS", "AGE"]
WIDE = [*COLUMNS, "SANDBOX", "PEAK-BYTES"]
NODE_COLUMNS = ["NAME", "READY", "REASON", "RUNS", "MAX", "WARM", "MEMORY", "AGE"]
NODE_WIDE = [*NODE_COLUMNS, "CPU", "CGROUP", "KERNEL"]
AGE = re.compile(r"(\d+[smh])+")
# How kubectl shows a field that isn't there.
NOTHING = ("", "<none>")


class TestRuns(KubectlCase):
    def expected(self, run):
        status = run["status"]
        return {"PROFILE": run["spec"]["profile"], "PHASE": status["phase"],
                "REASON": status.get("reason"), "EXIT": status.get("exitCode"),
                "NODE": status.get("nodeName"),
                "WALL-MS": status.get("usage", {}).get("wallMilliseconds"),
                "SANDBOX": status.get("sandboxID"),
                "PEAK-BYTES": status.get("usage", {}).get("peakMemoryBytes")}

    def check_rows(self, rows, columns):
        for name in (*REAL, "seen-pending", "seen-scheduled", "seen-running", "seen-failed"):
            with self.subTest(run=name):
                self.assertRegex(rows[name]["AGE"], AGE)
                for column, value in self.expected(self.cluster.get(name)).items():
                    if column not in columns:
                        continue
                    if value is None:
                        self.assertIn(rows[name][column], NOTHING, column)
                    else:
                        self.assertEqual(rows[name][column], str(value), column)

    def test_columns_tell_every_state(self):
        self.play("seen-pending", profile="ToolCall")
        self.play("seen-scheduled", scheduled("sandbox-s"))
        self.play("seen-running", scheduled("sandbox-r"), running("sandbox-r"))
        self.play("seen-failed", failed("InvalidSpec"))
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "get", "sbr").stdout
                self.assertEqual(headers(text), COLUMNS)
                self.check_rows(table(text), COLUMNS)
                text = self.kubectl(kubectl, "get", "sbr", "-o", "wide").stdout
                self.assertEqual(headers(text), WIDE)
                self.check_rows(table(text), WIDE)

    def test_what_really_ran_has_sensible_figures(self):
        rows = table(self.kubectl("kubectl", "get", "sbr", "-o", "wide").stdout)
        self.assertEqual((rows["hello"]["EXIT"], rows["exits-3"]["EXIT"]), ("0", "3"))
        self.assertGreaterEqual(int(rows["deadline"]["WALL-MS"]), 1000)
        self.assertEqual(rows["memory"]["EXIT"], "137")
        for name, (_, _, reason) in REAL.items():
            with self.subTest(run=name):
                self.assertEqual(rows[name]["REASON"], reason)
                self.assertEqual(rows[name]["NODE"], "" if name == "queued" else NODE)
                if name != "queued":
                    self.assertGreater(int(rows[name]["WALL-MS"]), 0)
                    self.assertRegex(rows[name]["SANDBOX"], r"\A[0-9a-f-]{36}\Z")

    def test_names_and_categories(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                for resource in ("sbr", "sandboxrun", "sandboxruns", "sandboxruns.sandboxrun.dev"):
                    text = self.kubectl(kubectl, "get", resource, "hello", "-o", "name").stdout
                    self.assertEqual(text, "sandboxrun.sandboxrun.dev/hello\n")
                for category in ("all", "sandboxes"):
                    text = self.kubectl(kubectl, "get", category, "-o", "name").stdout
                    self.assertIn("sandboxrun.sandboxrun.dev/hello\n", text)
                self.assertIn(f"sandboxnode.sandboxrun.dev/{NODE}\n",
                              self.kubectl(kubectl, "get", "sandboxes", "-o", "name").stdout)
                self.assertNotIn("sandboxnode",
                                 self.kubectl(kubectl, "get", "all", "-o", "name").stdout)
                text = self.kubectl(kubectl, "api-resources", "--api-group=sandboxrun.dev").stdout
                self.assertRegex(text, r"(?m)^sandboxruns +sbr +\S+ +true +SandboxRun$")
                self.assertRegex(text, r"(?m)^sandboxnodes +sbn +\S+ +false +SandboxNode$")

    def test_selected_by_phase_and_node(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                names = self.kubectl(kubectl, "get", "sbr", "-o", "name",
                                     "--field-selector=status.phase=Succeeded").stdout.split()
                self.assertIn("sandboxrun.sandboxrun.dev/hello", names)
                self.assertNotIn("sandboxrun.sandboxrun.dev/exits-3", names)
                names = self.kubectl(kubectl, "get", "sbr", "-o", "name",
                                     f"--field-selector=status.nodeName={NODE}").stdout.split()
                self.assertIn("sandboxrun.sandboxrun.dev/exits-3", names)
                self.assertNotIn("sandboxrun.sandboxrun.dev/queued", names)

    def test_output_by_jsonpath(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "get", "sbr", "hello", "-o",
                                    "jsonpath={.status.stdout}").stdout
                self.assertEqual(text, "hello\n")

    def test_watching_prints_every_change(self):
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                name = f"watched-by-{kubectl}"
                self.play(name)
                watching = self.cluster.start_watching(kubectl, "get", "sbr", name, "-w")
                try:
                    lines = [watching.stdout.readline(), watching.stdout.readline()]
                    for status in (scheduled("sandbox-w"), running("sandbox-w"),
                                   failed("NodeLost")):
                        self.cluster.play_on(name, status)
                    while "Failed" not in lines[-1] and lines[-1]:
                        lines.append(watching.stdout.readline())
                finally:
                    watching.terminate()
                    watching.communicate(timeout=30)
                self.assertEqual(lines[0].split(), COLUMNS)
                phases = [line.split()[2] for line in lines[1:]]
                self.assertEqual(sorted(set(phases), key=phases.index),
                                 ["Pending", "Scheduled", "Running", "Failed"])
                self.assertIn("NodeLost", lines[-1])


class TestNodes(KubectlCase):
    def test_columns(self):
        status = self.cluster.node.status()
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                text = self.kubectl(kubectl, "get", "sbn").stdout
                self.assertEqual(headers(text), NODE_COLUMNS)
                text = self.kubectl(kubectl, "get", "sbn", "-o", "wide").stdout
                self.assertEqual(headers(text), NODE_WIDE)
                row = table(text)[NODE]
                self.assertRegex(row.pop("AGE"), AGE)
                self.assertEqual(row, {
                    "NAME": NODE, "READY": "True", "REASON": "JailerReady", "RUNS": row["RUNS"],
                    "MAX": str(status["capacity"]["runs"]), "WARM": "0",
                    "MEMORY": status["capacity"]["memory"], "CPU": status["capacity"]["cpu"],
                    "CGROUP": status["cgroupVersion"], "KERNEL": status["kernel"]})
                self.assertRegex(row["RUNS"], r"\A\d+\Z")

    def test_a_node_that_is_not_ready_says_why(self):
        api, nodes = self.cluster.api, "/apis/sandboxrun.dev/v1alpha1/sandboxnodes"
        answer = api.post(nodes, {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxNode",
                                  "metadata": {"name": "lacking"}})
        self.assertTrue(answer.accepted, answer.message)
        self.addCleanup(api.delete, f"{nodes}/lacking")
        message = "cgroup.limits: the cgroup file system is read-only"
        answer = api.patch(f"{nodes}/lacking/status", {"status": {"conditions": [
            {"type": "Ready", "status": "False", "reason": "PreconditionFailed",
             "message": message, "lastTransitionTime": "2026-01-02T03:04:05Z"}]}})
        self.assertTrue(answer.accepted, answer.message)
        for kubectl in KUBECTLS:
            with self.subTest(kubectl=kubectl):
                row = table(self.kubectl(kubectl, "get", "sbn").stdout)["lacking"]
                self.assertEqual((row["READY"], row["REASON"]), ("False", "PreconditionFailed"))
                self.assertIn(message, self.kubectl(kubectl, "describe", "sbn", "lacking").stdout)


if __name__ == "__main__":
    unittest.main()
