# SPDX-License-Identifier: Apache-2.0
"""Sandboxes that wait for runs, in a cluster: nodes tell of them, and runs get them."""

import json
import unittest

from helpers.cluster import Cluster, Node, jails, run_document
from helpers.wait import wait_until

LEAST = 2  # for each runtime


class TestPool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start(nodes=())
        cls.node = Node(cls.cluster, "node-a", ("--pool-min", str(LEAST), "--pool-max", "4",
                                              "--log-level", "debug"))
        cls.cluster.nodes.append(cls.node)
        cls.node.start()
        cls.least = LEAST * len(cls.node.status()["runtimes"])

    def wait_warm(self):
        wait_until("the node to tell of what waits",
                   lambda: self.node.status().get("warm") == self.least, 60)

    def taken(self):
        """By sandbox id, as what each was made."""
        lines = map(json.loads, self.node.jailer.log().splitlines())
        return {line["sandbox"]: line["made_as"] for line in lines
                if line["msg"] == "sandbox taken"}

    def test_runs_get_what_waits(self):
        self.wait_warm()
        waiting = set(jails())
        self.assertEqual(len(waiting), self.least)
        self.cluster.create(run_document("warm", "print('here')"))
        status = self.cluster.wait_phase("warm", ("Succeeded",))["status"]
        self.assertEqual(status["stdout"], "here\n")
        self.assertIn(self.taken()[status["sandboxID"]], waiting)
        # It was used once, and another one waits in its place.
        wait_until("another one to wait", lambda: len(jails()) == self.least and
                   self.taken()[status["sandboxID"]] not in jails())

    def test_what_waits_is_no_part_of_what_is_allocated(self):
        self.wait_warm()
        self.assertEqual(self.node.status()["allocated"]["runs"], 0)

    def test_an_agent_that_is_started_anew_finds_them(self):
        self.wait_warm()
        waiting = set(jails())
        self.node.agent.kill()
        self.node.start_agent()
        wait_until("the node to be ready", self.node.ready)
        self.wait_warm()
        self.assertEqual(set(jails()), waiting)
        self.cluster.create(run_document("after", "print('here')"))
        status = self.cluster.wait_phase("after", ("Succeeded",))["status"]
        self.assertIn(self.taken()[status["sandboxID"]], waiting)


if __name__ == "__main__":
    unittest.main()
