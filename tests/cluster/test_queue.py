# SPDX-License-Identifier: Apache-2.0
"""Who waits and why, and what finished runs may keep, against a real API server.

The nodes are played by the test: it writes their SandboxNodes and Leases, and ends the runs that it
is given. No sandbox is made.
"""

import unittest

from helpers.cluster import Cluster, free_port, http_get, metric, run_document
from helpers.played_node import PlayedNode, now
from helpers.rawapi import RawApi
from helpers.wait import wait_until

API = "/apis/sandboxrun.dev/v1alpha1"


def setUpModule():
    """One API server for all; it takes longer to start than the tests do."""
    QueueCase.cluster = Cluster()
    unittest.addModuleCleanup(QueueCase.cluster.stop)
    QueueCase.cluster.start(nodes=())


class QueueCase(unittest.TestCase):
    """A controller with the class's FLAGS, and namespaces of its own for each test."""

    FLAGS = ()
    cluster = None

    @classmethod
    def setUpClass(cls):
        cls.cluster.controller.stop()
        cls.health = free_port()
        cls.cluster.start_controller("--health-address", f"127.0.0.1:{cls.health}", *cls.FLAGS)
        cls.api = RawApi(cls.cluster.plane)
        cls.addClassCleanup(lambda: cls.api.close())

    def add_node(self, name, **room):
        node = PlayedNode(self.cluster.plane, name, **room)
        self.addCleanup(node.remove)

    def add_namespace(self, name):
        self.cluster.kubectl("create", "namespace", name)
        self.addCleanup(self.remove_runs, name)

    def remove_runs(self, namespace):
        """What still waits would take the places of the next test's runs."""
        self.api.delete(self.path(namespace))
        wait_until(f"{namespace} to be empty", lambda: not self.phases(namespace))

    def path(self, namespace, name=""):
        return f"{API}/namespaces/{namespace}/sandboxruns" + (f"/{name}" if name else "")

    def create(self, namespace, name, **spec):
        answer = self.api.post(self.path(namespace), run_document(name, "print(1)", **spec))
        self.assertTrue(answer.accepted, answer.message)

    def status(self, namespace, name):
        return (self.api.get(self.path(namespace, name)).body or {}).get("status", {})

    def phases(self, namespace):
        items = self.api.get(self.path(namespace)).body["items"]
        return {item["metadata"]["name"]: item["status"]["phase"] for item in items}

    def wait_phase(self, namespace, name, phase):
        wait_until(f"{namespace}/{name} to be {phase}",
                   lambda: self.status(namespace, name).get("phase") == phase)
        return self.status(namespace, name)

    def end(self, namespace, name, output=""):
        """Writes the result, as the node's agent would."""
        answer = self.api.patch(self.path(namespace, name) + "/status", {"status": {
            "phase": "Succeeded", "reason": "Completed", "exitCode": 0, "completionTime": now(),
            "stdout": output, "conditions": [
                {"type": kind, "status": "True", "reason": "Completed", "message": "",
                 "lastTransitionTime": now()} for kind in ("Scheduled", "Finished")]}})
        self.assertTrue(answer.accepted, answer.message)

    def waiting(self, namespace, name):
        """The condition that says why it waits, once it is there."""
        def probe():
            return next((c for c in self.status(namespace, name).get("conditions", [])
                         if c["type"] == "Scheduled" and c["status"] == "False" and c["message"]),
                        None)
        return wait_until(f"{namespace}/{name} to be told why it waits", probe)

    def events(self, namespace, name):
        items = self.api.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events").body["items"]
        return [item for item in items if item["regarding"]["name"] == name]

    def metric(self, name):
        return metric(http_get(f"http://127.0.0.1:{self.health}/metrics")[1], name)


class TestWaiting(QueueCase):
    def test_the_nodes_are_counted_by_what_they_lack(self):
        self.add_namespace("counts")
        self.add_node("small", memory="256Mi")
        self.add_node("full", memory="512Mi")
        self.add_node("away", ready=False)
        self.create("counts", "first", timeoutSeconds=60)
        self.assertEqual(self.wait_phase("counts", "first", "Scheduled")["nodeName"], "full")
        self.create("counts", "second", queueTimeoutSeconds=6)
        condition = self.waiting("counts", "second")
        self.assertEqual(condition["reason"], "NoRoom")
        counts = ("0 of 3 nodes can take it: 1 too small for memory 512Mi and cpu 1, 1 not ready, "
                  "1 without room for memory 512Mi")
        self.assertEqual(condition["message"], counts)
        event = wait_until("the event", lambda: self.events("counts", "second"))[0]
        self.assertEqual((event["type"], event["reason"], event["action"]),
                         ("Warning", "NoRoom", "Scheduling"))
        self.assertEqual(event["note"], counts)
        status = self.wait_phase("counts", "second", "Failed")
        self.assertEqual((status["reason"], status["exitCode"]), ("QueueTimeout", -1))
        self.assertEqual(status["message"],
                         f"not placed within 6 s (queueTimeoutSeconds): {counts}")
        wait_until("the second event", lambda: {e["reason"] for e in self.events(
            "counts", "second")} == {"NoRoom", "QueueTimeout"})
        # A program's own end is none of theirs.
        self.end("counts", "first")
        self.assertEqual(self.events("counts", "first"), [])

    def test_what_is_told_again_becomes_a_series(self):
        self.add_namespace("series")
        self.create("series", "patient", nodeSelector={"no": "such-node"}, queueTimeoutSeconds=600)
        self.assertEqual(self.waiting("series", "patient")["reason"], "NoNodes")
        def told(count):
            return lambda: [e for e in self.events("series", "patient")
                            if e.get("series", {}).get("count", 1) >= count]
        wait_until("the event", told(1))
        # Somebody takes the condition away: the controller writes and tells it again.
        self.api.patch(self.path("series", "patient") + "/status", {"status": {"conditions": []}})
        repeated = wait_until("the series", told(2))
        self.assertEqual(len(self.events("series", "patient")), 1)
        self.assertIn("lastObservedTime", repeated[0]["series"])


class TestLimits(QueueCase):
    FLAGS = ("--max-runs-per-namespace", "2", "--max-queued-per-namespace", "3")

    def test_a_namespace_at_its_limit_waits_and_holds_up_no_other(self):
        self.add_node("n")
        for namespace in ("greedy", "modest"):
            self.add_namespace(namespace)
        for number in range(4):
            self.create("greedy", f"r{number}", queueTimeoutSeconds=600)
        self.create("modest", "r")
        self.wait_phase("modest", "r", "Scheduled")
        for name in ("r0", "r1"):
            self.wait_phase("greedy", name, "Scheduled")
        condition = self.waiting("greedy", "r2")
        self.assertEqual(condition["reason"], "NamespaceLimit")
        self.assertEqual(condition["message"],
                         "2 of at most 2 runs of the namespace are scheduled or running "
                         "(--max-runs-per-namespace)")
        wait_until("the event", lambda: [e for e in self.events("greedy", "r2")
                                         if e["reason"] == "NamespaceLimit"])
        # In their order, one for each that ends.
        self.end("greedy", "r0")
        self.wait_phase("greedy", "r2", "Scheduled")
        self.assertEqual(self.phases("greedy")["r3"], "Pending")
        self.end("greedy", "r2")
        self.wait_phase("greedy", "r3", "Scheduled")

    def test_beyond_the_queue_length_a_run_fails_at_once(self):
        self.add_namespace("long")
        for number in range(3):
            self.create("long", f"r{number}", queueTimeoutSeconds=600)
        self.create("long", "more", queueTimeoutSeconds=600)
        status = self.wait_phase("long", "more", "Failed")
        self.assertEqual((status["reason"], status["exitCode"]), ("QueueFull", -1))
        self.assertEqual(status["message"],
                         "3 runs of the namespace wait, and at most 3 may "
                         "(--max-queued-per-namespace): create it again when fewer wait")
        self.assertEqual({phase for name, phase in self.phases("long").items() if name != "more"},
                         {"Pending"})
        wait_until("the event", lambda: [e for e in self.events("long", "more")
                                         if e["reason"] == "QueueFull"])
        self.api.delete(self.path("long", "r1"))
        wait_until("a place in the queue", lambda: "r1" not in self.phases("long"))
        self.create("long", "again", queueTimeoutSeconds=600)
        self.waiting("long", "again")


class TestFinished(QueueCase):
    FLAGS = ("--max-finished-runs", "6", "--max-finished-runs-per-namespace", "4",
             "--max-finished-bytes", "1280Ki")

    def finish(self, namespace, name, output=""):
        self.create(namespace, name, ttlSecondsAfterFinished=3600)
        self.wait_phase(namespace, name, "Scheduled")
        self.end(namespace, name, output)

    def kept(self, namespace, names):
        wait_until(f"{names} to be kept in {namespace}",
                   lambda: set(self.phases(namespace)) == set(names))

    def test_the_oldest_go_first(self):
        self.add_node("n")
        for namespace in ("many", "few", "large"):
            self.add_namespace(namespace)
        for number in range(5):
            self.finish("many", f"r{number}")
        self.kept("many", ["r1", "r2", "r3", "r4"])
        for number in range(3):
            self.finish("few", f"r{number}")
        # Seven in all: the oldest of them goes.
        self.kept("many", ["r2", "r3", "r4"])
        self.kept("few", ["r0", "r1", "r2"])
        self.assertEqual(self.metric("sandboxrun_controller_finished_runs"), 6)
        self.assertEqual(
            self.metric('sandboxrun_controller_runs_deleted_total{cause="max_runs"}'), 1)
        self.assertEqual(
            self.metric('sandboxrun_controller_runs_deleted_total{cause="max_namespace_runs"}'), 1)
        # What is written as six bytes counts as six: of these three fit, and nothing beside a fourth.
        for number in range(6):
            self.finish("large", f"r{number}", "\x01" * 60000)
        self.kept("large", ["r3", "r4", "r5"])
        self.kept("many", [])
        self.kept("few", [])
        self.assertLessEqual(self.metric("sandboxrun_controller_finished_bytes"), 1280 << 10)
        self.assertGreaterEqual(
            self.metric('sandboxrun_controller_runs_deleted_total{cause="max_bytes"}'), 3)


if __name__ == "__main__":
    unittest.main()
