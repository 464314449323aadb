# SPDX-License-Identifier: Apache-2.0
"""Runs whose object goes away, whenever that is: the sandbox dies, and nothing is left."""

import json
import os
import time
import unittest

from helpers.cabled_node import CabledNode
from helpers.cluster import Cluster, jails, run_document
from helpers.wait import wait_until

LOOP = "while True:\n    pass\n"
SMALL = {"limits": {"memory": "64Mi", "cpu": "100m"}}
# What a loaded machine may need; measured, it is some 50 ms.
DEAD_WITHIN_S = 10


class DeletionCase(unittest.TestCase):
    cluster = None

    @classmethod
    def setUpClass(cls):
        if not DeletionCase.cluster:
            cluster = DeletionCase.cluster = Cluster()
            unittest.addModuleCleanup(cluster.stop)
            cluster.start(nodes=())
            cluster.nodes.append(CabledNode(cluster, "node-a"))
            cluster.nodes[0].start()

    def setUp(self):
        self.node, = self.cluster.nodes
        self.before = self.state()
        self.namespaces = ["default"]

    def tearDown(self):
        for namespace in self.namespaces:
            self.cluster.kubectl("delete", "sbr", "--all", "-n", namespace, "--wait=false",
                                 check=False)
        wait_until("nothing to be left on the node", lambda: self.state() == self.before, 20)

    def state(self):
        """What a run has on its node while it lives: cgroups, marks, results, mounts, descriptors
        of jailer and agent."""
        with open(f"/proc/{self.node.jailer.pid}/mountinfo", encoding="utf-8") as file:
            mounts = len(file.readlines())
        return {"jails": jails(), "mounts": mounts,
                "spool": self.node.spooled(),
                "pipes": sum(self.pipes(process.pid) for process in
                             (self.node.jailer, self.node.agent))}

    def pipes(self, pid):
        count = 0
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                count += os.readlink(f"/proc/{pid}/fd/{fd}").startswith("pipe:")
            except OSError:
                continue
        return count

    def create(self, name, code=LOOP, namespace="default", finalizers=(), **spec):
        document = run_document(name, code, **{"timeoutSeconds": 60, "resources": SMALL} | spec)
        document["metadata"]["finalizers"] = list(finalizers)
        return self.cluster.create(document, namespace)

    def create_running(self, name, **options):
        self.create(name, **options)
        status = self.cluster.wait_phase(name, ("Running",))["status"]
        self.assertIn(status["sandboxID"], jails())
        return status["sandboxID"]

    def wait_dead(self, sandbox):
        """Seconds until its cgroup is gone, which it is when its last process is."""
        since = time.monotonic()
        wait_until("the sandbox to be dead", lambda: sandbox not in jails(), DEAD_WITHIN_S, 0.002)
        return time.monotonic() - since

    def release(self, name):
        """Takes somebody's finalizer off: the object goes."""
        self.cluster.kubectl("patch", "sbr", name, "--type=merge", "-p",
                             '{"metadata": {"finalizers": null}}')
        wait_until(f"{name} to be gone", lambda: self.cluster.get(name) is None)


class TestDeletion(DeletionCase):
    def test_while_it_waits_for_a_node(self):
        self.create("pending", nodeSelector={"no": "such-node"})
        self.cluster.kubectl("delete", "sbr", "pending", "--timeout=20s")
        self.assertIsNone(self.cluster.get("pending"))

    def test_after_it_was_assigned_and_before_its_node_knows(self):
        self.node.cable.cut()
        try:
            self.create("assigned", "print('started')")
            self.cluster.wait_phase("assigned", ("Scheduled",))
            self.cluster.kubectl("delete", "sbr", "assigned", "--timeout=20s")
        finally:
            self.node.cable.mend()
        # A later one is served: so the node has heard of the first one's end.
        self.create("after", "print(1)")
        self.assertEqual(self.cluster.wait_finished("after")["status"]["phase"], "Succeeded")
        wait_until("its result to be dropped, if it came that far", lambda: self.state() ==
                   self.before)

    def test_while_it_runs_whatever_the_propagation(self):
        worst = 0
        for policy in ("background", "foreground", "orphan"):
            sandbox = self.create_running(policy)
            self.cluster.kubectl("delete", "sbr", policy, f"--cascade={policy}", "--wait=false")
            worst = max(worst, self.wait_dead(sandbox))
            wait_until("the object to be gone", lambda policy=policy:
                       self.cluster.get(policy) is None)
        print(f"dead {1000 * worst:.0f} ms after the answer", end=" ")

    def test_while_its_result_is_being_written(self):
        sandbox = self.create_running("writing", code="import time; time.sleep(2); print('kept')")
        self.node.cable.cut()
        try:
            self.node.wait_result_is_kept("writing", sandbox)
            self.assertEqual(self.node.spooled(), [f"run-{sandbox}"])
            self.cluster.kubectl("delete", "sbr", "writing", "--timeout=20s")
        finally:
            self.node.cable.mend()
        wait_until("the result to be dropped", lambda: not self.node.spooled())

    def test_with_somebodys_finalizer_it_ends_as_cancelled(self):
        self.create("held-pending", finalizers=["example.com/hold"], nodeSelector={"no": "node"})
        running = self.create_running("held-running", finalizers=["example.com/hold"])
        self.create("held-finished", "print('kept')", finalizers=["example.com/hold"])
        self.cluster.wait_finished("held-finished")
        expected = {"held-pending": ("Failed", "Cancelled"),
                    "held-running": ("Failed", "Cancelled"),
                    "held-finished": ("Succeeded", "Completed")}
        self.cluster.kubectl("delete", "sbr", *expected, "--wait=false")
        self.wait_dead(running)
        for name, end in expected.items():
            run = self.cluster.wait_finished(name)
            self.assertIn("deletionTimestamp", run["metadata"])
            self.assertEqual((run["status"]["phase"], run["status"]["reason"]), end)
        self.assertEqual(self.cluster.get("held-running")["status"]["exitCode"], -1)
        for name in expected:
            self.release(name)

    def test_a_new_one_of_the_same_name_has_nothing_of_the_old_one(self):
        # One that is surely running, and one that may be at its end.
        for old_code in (LOOP, "import time; time.sleep(0.3); print('old')"):
            old = None
            if old_code == LOOP:
                old = self.create_running("twin")
            else:
                self.create("twin", old_code)
            self.cluster.kubectl("delete", "sbr", "twin", "--timeout=20s")
            uid = self.create("twin", "print('new')")["metadata"]["uid"]
            run = self.cluster.wait_finished("twin")
            self.assertEqual((run["metadata"]["uid"], run["status"]["stdout"]), (uid, "new\n"))
            self.assertNotEqual(run["status"]["sandboxID"], old)
            wait_until("the old one to be dead", lambda old=old: old not in jails())
            self.cluster.kubectl("delete", "sbr", "twin", "--timeout=20s")

    def test_a_namespace_goes_with_runs_in_every_phase(self):
        self.namespaces = ["default", "doomed"]
        self.cluster.kubectl("create", "namespace", "doomed")
        sandboxes = []
        for i in range(3):
            self.create(f"running-{i}", namespace="doomed")
            sandboxes.append(self.cluster.wait_phase(f"running-{i}", ("Running",),
                                                     "doomed")["status"]["sandboxID"])
        self.create("pending", namespace="doomed", nodeSelector={"no": "such-node"})
        self.create("finished", "print(1)", "doomed")
        self.cluster.wait_finished("finished", "doomed")
        # Some of every age at the moment of the deletion.
        document = {"apiVersion": "v1", "kind": "List", "items": [
            run_document(f"burst-{i}", f"import time; time.sleep({i / 20}); print({i})",
                         resources=SMALL) for i in range(20)]}
        self.cluster.kubectl("create", "-n", "doomed", "-f", "-", input=json.dumps(document))
        self.cluster.kubectl("delete", "namespace", "doomed", "--timeout=60s")
        for sandbox in sandboxes:
            self.wait_dead(sandbox)
        self.assertNotIn('"level":"error"', self.node.agent.log() + self.cluster.controller.log())


class TestTtl(DeletionCase):
    """ttlSecondsAfterFinished, which is the one field of the spec that may be changed."""

    def set_ttl(self, name, seconds):
        self.cluster.kubectl("patch", "sbr", name, "--type=merge", "-p",
                             json.dumps({"spec": {"ttlSecondsAfterFinished": seconds}}))

    def wait_gone(self, name):
        wait_until(f"{name} to be deleted", lambda: self.cluster.get(name) is None, 20, 0.1)

    def test_at_once(self):
        self.create("at-once", "print(1)", ttlSecondsAfterFinished=0)
        self.wait_gone("at-once")
        self.assertIn('"run":"at-once"', "".join(
            line for line in self.node.agent.log().splitlines() if "run finished" in line))

    def test_changed_after_the_end(self):
        for name, first in (("shorter", 600), ("longer", 3), ("none-before", None)):
            ttl = {} if first is None else {"ttlSecondsAfterFinished": first}
            self.create(name, "print(1)", **ttl)
            self.cluster.wait_finished(name)
            self.set_ttl(name, 600 if name == "longer" else 1)
        self.wait_gone("shorter")
        self.wait_gone("none-before")
        time.sleep(2.5)
        self.assertIsNotNone(self.cluster.get("longer"))
        self.set_ttl("longer", 0)
        self.wait_gone("longer")

    def test_with_somebodys_finalizer(self):
        self.create("held", "print(1)", finalizers=["example.com/hold"], ttlSecondsAfterFinished=0)
        wait_until("it to be deleted", lambda: "deletionTimestamp" in
                   self.cluster.get("held")["metadata"])
        self.assertEqual(self.cluster.get("held")["status"]["phase"], "Succeeded")
        self.release("held")

    def test_of_one_that_has_not_finished(self):
        sandbox = self.create_running("going-on", ttlSecondsAfterFinished=0)
        time.sleep(1)
        self.assertIn(sandbox, jails())
        self.assertEqual(self.cluster.get("going-on")["status"]["phase"], "Running")


if __name__ == "__main__":
    unittest.main()
