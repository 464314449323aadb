# SPDX-License-Identifier: Apache-2.0
"""Agent or jailer die by SIGKILL at a chosen moment of a run's life: what had started is reported,
what hadn't is run elsewhere or again, and no sandbox outlives who watches it."""

import signal
import unittest

from helpers.cabled_node import CabledNode
from helpers.cgroup_tree import processes_by_sandbox
from helpers.cluster import Cluster, jails, run_document
from helpers.wait import wait_until

LOOP = "while True:\n    pass\n"


class TestDeaths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=())
        cls.node = CabledNode(cls.cluster, "node-a")
        cls.cluster.nodes.append(cls.node)
        cls.node.start()

    def tearDown(self):
        wait_until("nothing to be left", lambda: not jails() and not self.node.spooled(), 20)

    def create(self, name, code=LOOP, **spec):
        self.addCleanup(self.cluster.delete, name)
        self.cluster.create(run_document(name, code, **{"timeoutSeconds": 60} | spec))

    def create_running(self, name, code=LOOP):
        self.create(name, code)
        return self.cluster.wait_phase(name, ("Running",))["status"]["sandboxID"]

    def expect(self, name, phase, reason, stdout=""):
        status = self.cluster.wait_finished(name)["status"]
        self.assertEqual((status["phase"], status["reason"], status.get("stdout", "")),
                         (phase, reason, stdout), status)

    def restart_agent(self):
        self.node.start_agent()
        wait_until("the node to be ready", self.node.ready)

    def restart_both(self):
        self.assertEqual(self.node.agent.child.wait(30), 1)
        self.node.start()

    def leave_result_in_spool(self, name):
        """A run that has ended and whose end the API server doesn't know, with the cable cut."""
        sandbox = self.create_running(name, "import time; time.sleep(1.5); print('kept')")
        self.node.cable.cut()
        self.addCleanup(self.node.cable.mend)
        self.node.wait_result_is_kept(name, sandbox)

    def assign_unseen(self, name):
        """A run that is assigned to an agent that is stopped and hasn't heard of it."""
        self.node.agent.child.send_signal(signal.SIGSTOP)
        self.create(name, "print('once')")
        return self.cluster.wait_phase(name, ("Scheduled",))["status"]["sandboxID"]

    def test_the_agent_before_it_knows_of_the_run(self):
        first = self.assign_unseen("unseen")
        self.node.agent.kill()
        self.restart_agent()
        self.expect("unseen", "Succeeded", "Completed", "once\n")
        self.assertNotEqual(self.cluster.get("unseen")["status"]["sandboxID"], first)

    def test_the_agent_with_a_result_in_its_spool_and_a_run_under_way(self):
        sandbox = self.create_running("under-way")
        self.leave_result_in_spool("spooled")
        self.node.agent.kill()
        wait_until("the sandbox to die with it", lambda: sandbox not in jails())
        self.node.cable.mend()
        self.restart_agent()
        self.expect("spooled", "Succeeded", "Completed", "kept\n")
        self.expect("under-way", "Failed", "AgentRestarted")

    def test_the_agent_while_it_lets_its_runs_end(self):
        """As by a kubelet whose patience is over."""
        sandbox = self.create_running("too-long")
        self.node.agent.child.send_signal(signal.SIGTERM)
        wait_until("the node to be draining", lambda: any(
            c["reason"] == "Draining" for c in self.node.status()["conditions"]
            if c["type"] == "Ready"))
        self.assertIn(sandbox, jails())
        self.node.agent.kill()
        wait_until("the sandbox to die with it", lambda: sandbox not in jails())
        self.restart_agent()
        self.expect("too-long", "Failed", "AgentRestarted")

    def test_the_jailer_before_the_agent_knows_of_the_run(self):
        first = self.assign_unseen("unseen-too")
        self.node.jailer.kill()
        self.node.agent.child.send_signal(signal.SIGCONT)
        self.restart_both()
        self.expect("unseen-too", "Succeeded", "Completed", "once\n")
        self.assertNotEqual(self.cluster.get("unseen-too")["status"]["sandboxID"], first)

    def test_the_jailer_with_a_result_in_the_spool_and_a_run_under_way(self):
        sandbox = self.create_running("lost")
        self.leave_result_in_spool("spooled-too")
        self.node.jailer.kill()
        wait_until("the sandbox to die with it", lambda: not self.alive(sandbox))
        self.node.cable.mend()
        self.expect("spooled-too", "Succeeded", "Completed", "kept\n")
        self.expect("lost", "Failed", "JailerLost")
        self.restart_both()

    def alive(self, sandbox):
        """Its processes; the cgroup of a jailer that was killed stays until the next one."""
        return sandbox in processes_by_sandbox("sandboxrun")

    def test_the_jailer_while_the_agent_lets_its_runs_end(self):
        sandbox = self.create_running("cut-short")
        self.node.agent.child.send_signal(signal.SIGTERM)
        wait_until("the agent to know", lambda: "ending on a signal" in self.node.agent.log())
        self.node.jailer.kill()
        wait_until("the sandbox to die with it", lambda: not self.alive(sandbox))
        self.expect("cut-short", "Failed", "JailerLost")
        self.restart_both()

    def test_both_at_once(self):
        sandbox = self.create_running("power-cut")
        # Stopped, it can't tell of the jailer's end before its own.
        self.node.agent.child.send_signal(signal.SIGSTOP)
        self.node.jailer.child.send_signal(signal.SIGKILL)
        self.node.agent.kill()
        self.node.jailer.kill()
        wait_until("the sandbox to die with them", lambda: not self.alive(sandbox))
        self.node.start()
        self.expect("power-cut", "Failed", "AgentRestarted")


if __name__ == "__main__":
    unittest.main()
