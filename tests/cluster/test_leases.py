# SPDX-License-Identifier: Apache-2.0
"""Heartbeats: what a node that isn't heard of still does, and what becomes of its runs.

The durations are short, by the options that operators have: a node is silent after 3 s, an agent
starts nothing later than 1.5 s after a renewal, and a run with a timeout of 1 s is given up when its
node has been silent for 1.5 + 1 + 5 s.
"""

import json
import signal
import time
import unittest

from helpers.cabled_node import CabledNode
from helpers.cluster import NAMESPACE, Cluster, free_port, http_get, metric, run_document
from helpers.wait import wait_until

TIMES = ("--lease-duration", "3s", "--lease-renew-interval", "1s")
WINDOW_S, LOST_S = 1.5, 7.5
# An assignment that is older when it comes may have been ended by the controller.
OLD_S = 10
# What a loaded machine may add.
SLACK_S = 4
# Programs that don't end by themselves.
LOOP = "while True:\n    pass\n"


class LeaseNode(CabledNode):
    """One that is known by a label."""

    def __init__(self, cluster, name, options):
        super().__init__(cluster, name)
        self.options = options
        self.health = free_port()
        cluster.kubectl("apply", "-f", "-", input=json.dumps(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
        cluster.kubectl("label", "node", name, f"only={name}", "--overwrite")
        # Nobody here is a kubelet, so the API server taints what is new.
        cluster.kubectl("patch", "node", name, "--type=merge", "-p", '{"spec":{"taints":null}}')

    def start_agent(self, *args):
        super().start_agent(*TIMES, "--health-address", f"127.0.0.1:{self.health}",
                            *self.options, *args)

    def metric(self, name):
        return metric(http_get(f"http://127.0.0.1:{self.health}/metrics")[1], name)


class TestLeases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=())
        cls.cluster.controller.stop()
        cls.health = free_port()
        cls.start_controller()

    @classmethod
    def start_controller(cls):
        cls.cluster.start_controller(*TIMES, "--health-address", f"127.0.0.1:{cls.health}")

    def add_node(self, name, *options):
        node = LeaseNode(self.cluster, name, options)
        self.addCleanup(self.remove_node, node)
        node.start()
        self.wait_heard(name)
        return node

    def remove_node(self, node):
        if node.agent.alive():
            node.agent.child.send_signal(signal.SIGCONT)
        node.stop()

    def lease(self, name):
        return self.cluster.plane.get("lease", name, "-n", NAMESPACE)

    def wait_heard(self, name):
        wait_until(f"the controller to hear of {name}",
                   lambda: f'"a node is heard of","node":"{name}"' in self.cluster.controller.log())

    def wait_watched(self, node):
        """Until the node's runs come by a watch: the first may still be in the list."""
        for name in (f"{node.name}-first", f"{node.name}-second"):
            self.create(name, node, "print(1)")
            self.assertEqual(self.cluster.wait_finished(name)["status"]["phase"], "Succeeded")

    def create(self, name, node, code=LOOP, timeout=1, **spec):
        self.addCleanup(self.cluster.delete, name)
        return self.cluster.create(run_document(name, code, timeoutSeconds=timeout,
                                                nodeSelector={"only": node.name}, **spec))

    def wait_lost(self, name, since, bound=LOST_S):
        status = self.cluster.wait_finished(name, timeout=bound + SLACK_S + 20)["status"]
        passed = time.monotonic() - since
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "NodeLost"), status)
        self.assertIn("has not renewed its lease for", status["message"])
        # The last change may have been seen an interval before.
        self.assertGreater(passed, bound - 1.2)
        self.assertLess(passed, bound + SLACK_S)
        return status

    def test_a_lease_is_renewed_by_the_agent_that_is_ready(self):
        node = self.add_node("renews")
        first = self.lease(node.name)
        self.assertEqual(first["spec"]["holderIdentity"], node.status()["instance"])
        self.assertEqual(first["spec"]["leaseDurationSeconds"], 3)
        self.assertEqual(first["metadata"]["labels"]["sandboxrun.dev/lease"], "node")
        wait_until("a renewal", lambda: self.lease(node.name)["spec"]["renewTime"] !=
                   first["spec"]["renewTime"], 5)
        # The next agent takes it over.
        node.agent.stop()
        node.start_agent()
        wait_until("the next holder", lambda: self.lease(node.name)["spec"]["holderIdentity"] !=
                   first["spec"]["holderIdentity"], 10)
        self.assertEqual(self.lease(node.name)["spec"]["leaseTransitions"], 1)
        # Made again when somebody deletes it.
        self.cluster.kubectl("delete", "lease", node.name, "-n", NAMESPACE)
        wait_until("the lease to be made again", lambda: self.cluster.kubectl(
            "get", "lease", node.name, "-n", NAMESPACE, check=False).returncode == 0, 5)

    def test_a_stopped_agent(self):
        node = self.add_node("stopped")
        self.create("while-stopped", node, LOOP, timeout=30)
        self.cluster.wait_phase("while-stopped", ("Running",))
        node.agent.child.send_signal(signal.SIGSTOP)
        since = time.monotonic()
        # Assigned while the node still counts as alive; never delivered.
        self.create("never-started", node, "print('started')")
        self.cluster.wait_phase("never-started", ("Scheduled",))
        self.wait_lost("never-started", since)
        # Nothing new goes there.
        self.create("waits", node, "print(1)", queueTimeoutSeconds=60)
        def waiting():
            conditions = self.cluster.get("waits")["status"]["conditions"]
            return any("without a heartbeat of its agent" in c.get("message", "")
                       for c in conditions)
        wait_until("the reason why it waits", waiting, 10)
        # One with a longer timeout may still be going.
        self.assertEqual(self.cluster.get("while-stopped")["status"]["phase"], "Running")
        node.agent.child.send_signal(signal.SIGCONT)
        # It starts what comes after its next renewal, and nothing else.
        self.assertEqual(self.cluster.wait_finished("waits")["status"]["phase"], "Succeeded")
        status = self.cluster.get("never-started")["status"]
        self.assertEqual(status["reason"], "NodeLost")
        self.assertNotIn("stdout", status)
        self.assertEqual(node.spooled().count(f"run-{status['sandboxID']}"), 0)
        finished = [line for line in node.agent.log().splitlines() if "run finished" in line]
        self.assertFalse([line for line in finished if status["sandboxID"] in line])

    def test_a_killed_agent_that_never_comes_back(self):
        node = self.add_node("killed")
        self.create("orphan", node, LOOP, timeout=2)
        self.cluster.wait_phase("orphan", ("Running",))
        node.agent.kill()
        since = time.monotonic()
        self.wait_lost("orphan", since, LOST_S + 1)
        metrics = http_get(f"http://127.0.0.1:{self.health}/metrics")[1]
        self.assertIn('sandboxrun_controller_nodes{state="silent"}', metrics)
        self.assertRegex(metrics, r'sandboxrun_controller_lease_reads_total{outcome="silent"} [1-9]')
        self.assertRegex(metrics, r'sandboxrun_controller_runs_failed_total{reason="NodeLost"} [1-9]')

    def test_a_cut_agent_starts_nothing_and_its_late_result_is_dropped(self):
        node = self.add_node("cut")
        # It is going when the cable is cut, and ends by itself while it is.
        self.create("late", node, "import time\ntime.sleep(1)\nprint('done')", timeout=2)
        self.cluster.wait_phase("late", ("Running",))
        node.cable.cut()
        since = time.monotonic()
        self.create("undelivered", node, "print('started')")
        self.cluster.wait_phase("undelivered", ("Scheduled",))
        self.wait_lost("undelivered", since)
        self.wait_lost("late", since, LOST_S + 1)
        self.assertIn('"msg":"run finished"', node.agent.log())
        node.cable.mend()
        wait_until("the late result to be dropped", lambda: node.metric(
            "sandboxrun_agent_results_too_late_total") == 1, 60, 0.2)
        self.assertEqual(self.cluster.get("late")["status"]["reason"], "NodeLost")
        self.assertEqual(self.cluster.get("undelivered")["status"]["reason"], "NodeLost")
        self.assertEqual(node.agent.log().count('"msg":"run finished"'), 1)
        self.assertEqual(node.spooled(), [])

    def test_an_assignment_that_a_watch_brings_too_late_is_not_started(self):
        node = self.add_node("lags")
        self.wait_watched(node)
        node.cable.cut()
        since = time.monotonic()
        self.create("outdated", node, "print('started')")
        sandbox = self.cluster.wait_phase("outdated", ("Scheduled",))["status"]["sandboxID"]
        self.wait_lost("outdated", since)
        # Heartbeats go another way by now than the watch, which has yet to bring the assignment.
        node.cable.mend_for_new()
        wait_until("a heartbeat", lambda: '"the node\'s lease is renewed again"' in node.agent.log(),
                   30)
        node.cable.mend()
        self.create("next", node, "print('started')", queueTimeoutSeconds=60)
        self.assertEqual(self.cluster.wait_finished("next")["status"]["phase"], "Succeeded")
        self.assertNotIn(sandbox, node.agent.log())

    def test_an_assignment_that_comes_late_is_started_after_a_new_list(self):
        """The watch alone lags: the lease never lapsed."""
        node = self.add_node("slow", "--lease-duration", "30s")
        self.wait_watched(node)
        node.cable.cut()
        node.cable.mend_for_new()
        self.create("delayed", node, "print('started')")
        self.cluster.wait_phase("delayed", ("Scheduled",))
        time.sleep(OLD_S + 2)  # a Date shows whole seconds
        self.assertEqual(self.cluster.get("delayed")["status"]["phase"], "Scheduled")
        node.cable.mend()
        self.assertEqual(self.cluster.wait_finished("delayed")["status"]["phase"], "Succeeded")
        log = node.agent.log()
        self.assertEqual(log.count('"an assignment comes late, listing the node\'s runs anew"'), 1)
        self.assertNotIn('"lapsed":1', log)

    def test_a_cordoned_or_tainted_node_gets_no_new_runs_and_ends_those_it_has(self):
        node = self.add_node("closed")
        kubectl = self.cluster.kubectl

        def taint(text):
            key = text.split("=")[0]
            return ("taint", "node", node.name, text), ("taint", "node", node.name, f"{key}-")

        self.create("inside", node, "import time; time.sleep(9); print('to the end')", timeout=30)
        self.cluster.wait_phase("inside", ("Running",))
        for number, (word, (shut, reopen)) in enumerate((
                ("cordoned", (("cordon", node.name), ("uncordon", node.name))),
                ("tainted", taint("k=v:NoSchedule")),
                ("tainted", taint("k=v:NoExecute")),
                # What the cluster autoscaler sets on a node before it deletes it.
                ("tainted", taint("ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule")))):
            kubectl(*shut)
            time.sleep(0.3)
            name = f"outside-{number}"
            self.create(name, node, "print(1)", queueTimeoutSeconds=1)
            status = self.cluster.wait_finished(name)["status"]
            self.assertEqual(status["reason"], "QueueTimeout", status)
            self.assertIn(f"1 {word}", status["message"])
            self.assertNotIn("nodeName", status)
            kubectl(*reopen)
        self.create("again", node, "print(1)")
        self.assertEqual(self.cluster.wait_finished("again")["status"]["phase"], "Succeeded")
        # One that may be deleted later is worked on; so is one that is only not preferred.
        shut, reopen = taint("DeletionCandidateOfClusterAutoscaler=1700000000:PreferNoSchedule")
        kubectl(*shut)
        time.sleep(0.3)
        self.create("candidate", node, "print(1)")
        self.assertEqual(self.cluster.wait_finished("candidate")["status"]["phase"], "Succeeded")
        kubectl(*reopen)
        status = self.cluster.wait_finished("inside")["status"]
        self.assertEqual((status["phase"], status["stdout"]), ("Succeeded", "to the end\n"))

    def test_a_new_controller_begins_to_count_afresh(self):
        node = self.add_node("afresh")
        self.create("counted", node, LOOP, timeout=1)
        self.cluster.wait_phase("counted", ("Scheduled", "Running"))
        node.agent.kill()
        time.sleep(2)
        self.cluster.controller.kill()
        self.start_controller()
        self.wait_lost("counted", time.monotonic())

    def test_a_flood_of_results_is_not_in_front_of_the_heartbeat(self):
        node = self.add_node("flooded")
        code = "print('x' * 60000)\nimport sys\nprint('y' * 60000, file=sys.stderr)"
        for i in range(40):
            self.create(f"flood-{i}", node, code, timeout=20,
                        resources={"limits": {"memory": "64Mi", "cpu": "100m"}})
        worst = 0.0
        def finished():
            nonlocal worst
            worst = max(worst, node.metric("sandboxrun_agent_lease_age_seconds"))
            runs = self.cluster.plane.get("sbr", "-n", "default")["items"]
            mine = [r["status"] for r in runs if r["metadata"]["name"].startswith("flood-")]
            return all(s["phase"] == "Succeeded" for s in mine) and len(mine) == 40
        wait_until("the flood to be over", finished, 60, 0.2)
        # Never so old that nothing could be started.
        self.assertLess(worst, WINDOW_S)


if __name__ == "__main__":
    unittest.main()
