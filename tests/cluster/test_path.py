# SPDX-License-Identifier: Apache-2.0
"""From kubectl to a jail and back, against a real API server with two nodes."""

import glob
import json
import os
import signal
import time
import unittest

from helpers import expectations
from helpers.cluster import ROOT, Cluster, jails, run_document
from helpers.wait import wait_until

LOOP = "while True:\n    pass\n"


class ClusterCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start()

    def setUp(self):
        self.names = []

    def tearDown(self):
        for name in self.names:
            self.cluster.delete(name)

    def create(self, name, code, **spec):
        self.names.append(name)
        return self.cluster.create(run_document(name, code, **spec))

    def run_to_end(self, name, code, timeout=60, **spec):
        self.create(name, code, **spec)
        return self.cluster.wait_finished(name, timeout=timeout)["status"]

    def conditions(self, status):
        return {c["type"]: c for c in status["conditions"]}


class TestPath(ClusterCase):
    def test_hello_by_apply_and_wait(self):
        kubectl = self.cluster.kubectl
        self.names.append("hello")
        kubectl("apply", "-f", os.path.join(ROOT, "examples/hello.yaml"))
        kubectl("wait", "--for=condition=Finished", "sbr/hello", "--timeout=20s")
        status = self.cluster.get("hello")["status"]
        self.assertEqual(status["phase"], "Succeeded")
        self.assertEqual(status["reason"], "Completed")
        self.assertEqual(status["exitCode"], 0)
        self.assertIn("ello", status["stdout"])
        self.assertEqual(status["stdoutBytes"], len(status["stdout"]))
        self.assertIn(status["nodeName"], ("node-a", "node-b"))
        for field in ("scheduledTime", "startTime", "completionTime", "sandboxID", "usage"):
            self.assertIn(field, status)
        self.assertLessEqual(status["scheduledTime"], status["startTime"])
        self.assertLessEqual(status["startTime"], status["completionTime"])
        self.assertEqual(self.conditions(status)["Finished"]["status"], "True")
        self.assertEqual(self.conditions(status)["Scheduled"]["status"], "True")

    def test_an_untouched_run_is_pending_and_not_finished(self):
        run = self.create("untouched", "print(1)", nodeSelector={"no": "such-node"})
        self.assertEqual(run["status"]["phase"], "Pending")
        self.assertEqual(self.conditions(run["status"])["Finished"]["status"], "False")

    def test_sandbox_ids_are_unique_and_both_nodes_work(self):
        names = [f"many-{i}" for i in range(20)]
        for name in names:
            self.create(name, "import time; time.sleep(0.3); print('x')")
        statuses = [self.cluster.wait_finished(name)["status"] for name in names]
        self.assertEqual({s["phase"] for s in statuses}, {"Succeeded"})
        self.assertEqual(len({s["sandboxID"] for s in statuses}), len(names))
        self.assertEqual({s["nodeName"] for s in statuses}, {"node-a", "node-b"})

    def test_running_is_written_only_for_what_takes_longer(self):
        self.create("long", "import time; time.sleep(1.5)")
        run = self.cluster.wait_phase("long", ("Running",))
        self.assertIn("startTime", run["status"])
        self.assertEqual(self.cluster.wait_finished("long")["status"]["phase"], "Succeeded")

    def test_tool_call_waits_for_a_node_that_offers_it(self):
        status = self.run_to_end("tool", "print(1)", profile="ToolCall", queueTimeoutSeconds=3)
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "QueueTimeout"))
        self.assertIn("0 of 2 nodes can take it: 2 without profile ToolCall", status["message"])

    def test_a_runtime_that_no_node_has_times_out_with_the_reason(self):
        status = self.run_to_end("strange", "print(1)", runtime="python2.7", queueTimeoutSeconds=3)
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "QueueTimeout"))
        self.assertIn("python2.7", status["message"])
        self.assertIn("0 of 2 nodes", status["message"])

    def test_waiting_says_why_on_the_condition(self):
        self.create("waiting", "print(1)", nodeSelector={"no": "such-node"}, queueTimeoutSeconds=30)
        def probe():
            condition = self.conditions(self.cluster.get("waiting")["status"]).get("Scheduled")
            return condition if condition and condition["status"] == "False" else None
        self.assertIn("0 of 2 nodes", wait_until("the waiting condition", probe)["message"])

    def test_effective_limits_and_usage_are_told(self):
        status = self.run_to_end("limits", "print(1)", timeoutSeconds=7,
                                 resources={"limits": {"memory": "64Mi", "cpu": "500m"}})
        effective = status["effective"]
        self.assertEqual(effective["timeoutSeconds"], 7)
        self.assertEqual(effective["memory"], "64Mi")
        self.assertEqual(effective["cpu"], "500m")
        with open(os.path.join(ROOT, "build/runtimes/python3.12/usr/lib/sandboxrun/version")) as f:
            self.assertEqual(effective["runtimeVersion"], f.read().strip())
        self.assertGreater(status["usage"]["wallMilliseconds"], 0)

    def test_objects_above_256_kib_need_create_or_server_side_apply(self):
        code = "#" * (300 << 10) + "\nprint('big')\n"
        document = json.dumps(run_document("big", code))
        self.names.append("big")
        refused = self.cluster.kubectl("apply", "-f", "-", input=document, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("Too long", refused.stderr)
        self.cluster.kubectl("apply", "--server-side", "-f", "-", input=document)
        self.assertEqual(self.cluster.wait_finished("big")["status"]["stdout"], "big\n")

    def test_a_mebibyte_of_code_runs_and_a_byte_more_is_refused(self):
        code = "#" * ((1 << 20) - 10) + "\nprint(1)\n"
        self.assertEqual(len(code), 1 << 20)
        self.assertEqual(self.run_to_end("full", code)["stdout"], "1\n")
        self.names.append("over")
        refused = self.cluster.kubectl("create", "-f", "-", check=False,
                                       input=json.dumps(run_document("over", "#" + code)))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("spec", refused.stderr)

    def test_columns_and_explain(self):
        self.run_to_end("columns", "raise SystemExit(3)")
        header, row = self.cluster.kubectl("get", "sbr", "columns").stdout.splitlines()
        for column in ("NAME", "PROFILE", "PHASE", "REASON", "EXIT", "NODE", "AGE"):
            self.assertIn(column, header)
        for value in ("Snippet", "Failed", "Error", "3"):
            self.assertIn(value, row)
        wide = self.cluster.kubectl("get", "sbr", "columns", "-o", "wide").stdout
        self.assertIn(self.cluster.get("columns")["status"]["sandboxID"], wide)
        text = self.cluster.kubectl("explain", "sbr.spec.timeoutSeconds").stdout
        self.assertIn("DESCRIPTION", text)
        self.assertNotIn("<empty>", text)

    def test_an_ordinary_user_can_not_write_status(self):
        self.create("honest", "print(1)", nodeSelector={"no": "such-node"})
        patch = json.dumps({"status": {"phase": "Succeeded", "reason": "Completed"}})
        done = self.cluster.kubectl("patch", "sbr", "honest", "--subresource=status",
                                    "--type=merge", "-p", patch, user="alice", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("forbidden", done.stderr.lower())


class TestExamples(ClusterCase):
    """Every file of examples/ ends as its comment header says."""

    def test_examples(self):
        for path in sorted(glob.glob(os.path.join(ROOT, "examples/*.yaml"))):
            with self.subTest(example=os.path.basename(path)):
                expected = expectations.load(path)
                done = self.cluster.kubectl("create", "-o", "name", "-f", path)
                names = [line.split("/", 1)[1] for line in done.stdout.split()]
                self.names.extend(names)
                for name in names:
                    status = self.cluster.wait_finished(name)["status"]
                    expected.check(self, status)


class TestDeath(ClusterCase):
    """What is left when a part dies: nothing runs twice, nothing finished is lost."""

    def restart_agent(self, node):
        node.agent.kill()
        node.start_agent()
        wait_until("the node to be ready", node.ready)

    def test_agent_killed_fails_what_had_started(self):
        node = self.cluster.nodes[0]
        self.create("cut", LOOP, timeoutSeconds=30)
        run = self.cluster.wait_phase("cut", ("Running",))
        node = next(n for n in self.cluster.nodes if n.name == run["status"]["nodeName"])
        self.restart_agent(node)
        status = self.cluster.wait_finished("cut")["status"]
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "AgentRestarted"))
        self.assertEqual(status["exitCode"], -1)
        self.assertEqual(status["sandboxID"], run["status"]["sandboxID"])
        wait_until("the jail to be gone", lambda: status["sandboxID"] not in jails(), 5)

    def test_jailer_killed_fails_its_runs_and_leaves_nothing(self):
        self.create("orphan", LOOP, timeoutSeconds=30)
        run = self.cluster.wait_phase("orphan", ("Running",))
        node = next(n for n in self.cluster.nodes if n.name == run["status"]["nodeName"])
        node.jailer.kill()
        status = self.cluster.wait_finished("orphan")["status"]
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "JailerLost"))
        node.agent.child.wait(20)
        self.assertNotEqual(node.agent.child.returncode, 0)
        node.start()
        self.assertNotIn(run["status"]["sandboxID"], jails())

    def test_result_survives_an_outage_of_the_api_server(self):
        self.create("outage", "import time; time.sleep(2); print('kept')")
        self.cluster.wait_phase("outage", ("Running",))
        self.cluster.plane.kill()
        time.sleep(3)
        self.cluster.plane.start()
        status = self.cluster.wait_finished("outage", timeout=60)["status"]
        self.assertEqual((status["phase"], status["stdout"]), ("Succeeded", "kept\n"))

    def test_controller_killed_assigns_after_its_restart(self):
        self.cluster.controller.kill()
        self.create("later", "print('assigned')")
        time.sleep(1)
        self.assertEqual(self.cluster.get("later")["status"]["phase"], "Pending")
        self.cluster.start_controller()
        self.assertEqual(self.cluster.wait_finished("later")["status"]["stdout"], "assigned\n")

    def test_agent_terminated_lets_runs_finish(self):
        self.create("finishing", "import time; time.sleep(2); print('to the end')")
        run = self.cluster.wait_phase("finishing", ("Running",))
        node = next(n for n in self.cluster.nodes if n.name == run["status"]["nodeName"])
        node.agent.child.send_signal(signal.SIGTERM)
        self.assertEqual(node.agent.child.wait(30), 0)
        status = self.cluster.get("finishing")["status"]
        self.assertEqual((status["phase"], status["stdout"]), ("Succeeded", "to the end\n"))
        self.assertFalse(any(c["type"] == "Ready" and c["status"] == "True"
                             for c in node.status()["conditions"]))
        node.start_agent()
        wait_until("the node to be ready", node.ready)


if __name__ == "__main__":
    unittest.main()
