# SPDX-License-Identifier: Apache-2.0
"""A node that lacks something is not ready, says why, gets no runs, and comes back."""

import os
import subprocess
import unittest

from helpers.cluster import NAMESPACE, RUNTIMES, UID, Cluster, Node, run_document
from helpers.wait import wait_until


class TestPreconditions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=())

    def ready(self, node):
        """The Ready condition, once there is one."""
        return wait_until(f"a condition of {node.name}", lambda: next(
            (c for c in node.status().get("conditions", []) if c["type"] == "Ready"), None))

    def node(self, name, *jailer_args):
        node = Node(self.cluster, name, jailer_args)
        self.cluster.nodes.append(node)
        return node

    def waiting(self, name):
        """The message of the run's Scheduled condition, once it says that it waits."""
        def probe():
            conditions = self.cluster.get(name)["status"]["conditions"]
            return next((c.get("message") for c in conditions
                         if c["type"] == "Scheduled" and c["status"] == "False"), None)
        return wait_until(f"{name} to wait", probe)

    def test_a_node_without_a_runtime(self):
        # The later --runtimes-dir counts.
        runtimes = os.path.join(self.cluster.dir, "runtimes")
        os.mkdir(runtimes)
        node = self.node("node-poor", "--runtimes-dir", runtimes)
        node.start_jailer()
        node.start_agent()
        condition = self.ready(node)
        self.assertEqual((condition["status"], condition["reason"]),
                         ("False", "PreconditionFailed"))
        self.assertIn("The node lacks: runtimes.", condition["message"])
        self.assertIn(f"0 usable in {runtimes}", condition["message"])
        self.assertIn("hack/make-runtime.sh", condition["message"])
        self.assertEqual(node.status()["capacity"]["runs"], 0)
        self.assertNotIn("cgroupVersion", node.status())
        row = self.cluster.kubectl("get", "sbn", node.name).stdout
        self.assertIn("PreconditionFailed", row)
        with open(f"/proc/{node.agent.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("Cap"):
                    self.assertEqual(int(line.split()[1], 16), 0, line)

        self.cluster.create(run_document("early", "print('at last')", queueTimeoutSeconds=120))
        self.assertIn("not ready", self.waiting("early"))
        self.assertNotIn("nodeName", self.cluster.get("early")["status"])
        self.assertEqual(node.status()["allocated"]["runs"], 0)

        # The jailer sees it by itself and ends, the agent with it; both are started anew, as a
        # container is.
        subprocess.run(["cp", "-a", os.path.join(RUNTIMES, "python3.12"), runtimes], check=True)
        self.assertEqual(node.jailer.child.wait(30), 1)
        self.assertEqual(node.agent.child.wait(30), 1)
        node.start()
        self.assertEqual(self.ready(node)["status"], "True")
        status = self.cluster.wait_finished("early")["status"]
        self.assertEqual((status["phase"], status["stdout"]), ("Succeeded", "at last\n"))
        node.stop()

    def test_a_node_with_too_little_memory(self):
        node = self.node("node-small", "--memory-capacity", "16Mi", "--cgroup-parent",
                         "sandboxrun-small", "--uid-base", "2400000000")
        node.start_jailer()
        node.start_agent()
        condition = self.ready(node)
        self.assertEqual((condition["status"], condition["reason"]),
                         ("False", "PreconditionFailed"))
        self.assertIn("The node lacks: memory. memory: 16 MiB for all sandboxes together",
                      condition["message"])
        self.assertIn("--memory-capacity", condition["message"])
        self.assertLessEqual(len(condition["message"]), 1024)
        self.assertEqual(node.agent.stop(), 0)
        self.assertEqual(node.jailer.stop(), 0)

    def test_an_agent_whose_token_names_no_node_registers_none_and_says_why(self):
        node = self.node("node-lost")
        self.cluster.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent",
                                                      node.kubeconfig)
        os.chown(node.kubeconfig, UID, UID)
        node.start_jailer()
        node.start_agent()
        wait_until("the agent to be told", lambda: "names no node" in node.agent.log())
        self.assertIn("ServiceAccountTokenPodNodeInfo", node.agent.log())
        self.assertEqual(node.status(), {})
        node.agent.kill()
        # With a token of its node it goes on where it was.
        self.cluster.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent",
                                                      node.kubeconfig, node=node.name)
        os.chown(node.kubeconfig, UID, UID)
        node.start_agent()
        self.assertEqual(self.ready(node)["status"], "True")
        node.stop()


if __name__ == "__main__":
    unittest.main()
