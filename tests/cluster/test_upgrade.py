# SPDX-License-Identifier: Apache-2.0
"""Agent, jailer and resolver of a node are replaced while runs come and go, as by an upgrade of the
DaemonSet: all three are told to end at the same time, and no run fails or runs twice."""

import os
import signal
import threading
import unittest
import urllib.error

from helpers.cluster import (NAMESPACE, RESOLVER_UID, TERMINAL, UID, Cluster, Node, Process,
                             free_port, http_get, jails, run_document, start_resolver)
from helpers.marks import Marks, code_of
from helpers.netns import Namespace
from helpers.rawapi import RawApi
from helpers.wait import wait_until

RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"
# Of the stream: one run each so often; every so many of them take longer.
EVERY_S, LONG_EACH, LONG_S = 0.1, 8, 4


class Pod:
    """The three containers of one Pod, with a socket directory and a network of their own."""

    def __init__(self, node, number):
        self.node = node
        self.cluster = node.cluster
        self.name = f"{node.name}-{number}"
        self.dir = os.path.join(node.dir, f"pod-{number}")
        os.mkdir(self.dir, 0o755)
        self.health = free_port()
        self.network = Namespace()
        self.network.ip("link set lo up\n")
        resolver_socket = os.path.join(self.dir, "resolver.sock")
        self.jailer = Process(
            f"{self.name}-jailer",
            self.network.enter(
                self.cluster.program("sandboxrun-jailer"),
                "--socket", os.path.join(self.dir, "jailer.sock"), "--peer-uid", str(UID),
                "--runtimes-dir", node.runtimes, "--spool-dir", node.spool, "--slots", "2",
                "--resolver-socket", resolver_socket, "--resolver-uid", str(RESOLVER_UID),
                "--memory-capacity", "2Gi"),
            self.cluster.dir)
        self.resolver = start_resolver(f"{self.name}-resolver", self.cluster.dir, resolver_socket,
                                       network=self.network.pid)
        self.agent = Process(
            f"{self.name}-agent",
            [self.cluster.program("sandboxrun-agent"), "--node-name", node.name,
             "--jailer-socket", os.path.join(self.dir, "jailer.sock"), "--spool-dir", node.spool,
             "--kubeconfig", node.kubeconfig, "--health-address", f"127.0.0.1:{self.health}",
             "--output-address", "127.0.0.1:0", "--output-host", "127.0.0.1",
             "--lease-namespace", NAMESPACE],
            self.cluster.dir, uid=UID)

    def containers(self):
        return self.agent, self.resolver, self.jailer

    def terminate(self):
        for container in self.containers():
            if container.alive():
                container.child.send_signal(signal.SIGTERM)

    def ended(self):
        return not any(container.alive() for container in self.containers())

    def statuses(self):
        return [container.child.wait(30) for container in self.containers()]

    def readiness(self):
        """(status, text) of /readyz, or None while nobody answers."""
        try:
            return http_get(f"http://127.0.0.1:{self.health}/readyz")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None

    def log(self):
        return "".join(container.log() for container in self.containers())

    def close(self):
        """In the order of a Pod with sidecars."""
        for container in self.containers():
            container.stop()
        self.network.close()


class UpgradedNode(Node):
    """A node on which one Pod follows another; the spool stays."""

    def __init__(self, cluster, name, runtimes):
        super().__init__(cluster, name)
        self.runtimes = runtimes
        self.pods = []

    def start(self):
        self.next_pod()
        self.wait_ready()

    def next_pod(self):
        self.pods.append(Pod(self, len(self.pods)))
        self.agent, self.jailer = self.pods[-1].agent, self.pods[-1].jailer
        return self.pods[-1]

    def wait_ready(self):
        def ready():
            status = self.status()
            return (f'"instance":"{status.get("instance")}"' in self.agent.log() and self.ready()
                    and "ToolCall" in status["profiles"])
        wait_until(f"{self.name}'s new agent to be ready", ready, 60, 0.1)

    def stop(self):
        for pod in self.pods:
            pod.close()


class Stream(threading.Thread):
    """Creates runs steadily, short ones and some long, until it is told to stop."""

    def __init__(self, case):
        super().__init__(daemon=True)
        self.case = case
        self.enough = threading.Event()
        self.names = []
        self.failure = None

    def run(self):
        api = RawApi(self.case.cluster.plane)
        try:
            while not self.enough.wait(EVERY_S):
                number = len(self.names)
                name = f"stream-{number}"
                self.case.marks.add(name)
                long = LONG_S if number % LONG_EACH == 0 else 0
                profile = "ToolCall" if number % (2 * LONG_EACH) == 0 else "Snippet"
                code = (f"import os, time\n{code_of(name)}time.sleep({long})\nprint('{name}')\n")
                answer = api.post(RUNS, run_document(
                    name, code, profile=profile, queueTimeoutSeconds=600, timeoutSeconds=30,
                    resources={"limits": {"memory": "64Mi", "cpu": "100m"}}))
                if not answer.accepted:
                    raise AssertionError(answer.message)
                self.names.append(name)
        except Exception as error:
            self.failure = error
        finally:
            api.close()

    def stop(self):
        self.enough.set()
        self.join(60)
        if self.failure:
            raise self.failure


class TestUpgrade(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=())
        cls.marks = Marks(os.path.join(cls.cluster.dir, "runtimes"))
        cls.addClassCleanup(cls.marks.close)
        for name in ("node-a", "node-b"):
            node = UpgradedNode(cls.cluster, name, cls.marks.runtimes)
            cls.cluster.nodes.append(node)
            node.start()

    def terminate(self, node, pod):
        """While something runs there: the world sees at once that nothing new is wanted."""
        def runs():
            items = self.cluster.plane.get("sbr", "-n", "default")["items"]
            return any(item["status"].get("nodeName") == node.name for item in items
                       if item["status"]["phase"] == "Running")
        wait_until("a long run to be under way", runs)
        pod.terminate()

        def condition():
            return next((c for c in node.status()["conditions"]
                         if c["type"] == "Ready" and c["status"] == "False"), None)
        seen = wait_until("the node to be seen draining", condition, 10, 0.05)
        self.assertEqual(seen["reason"], "Draining")
        self.assertFalse(pod.ended(), "what runs there should still be going on")

    def by_surge(self, node):
        """The new Pod is there, and ready, before the old one is told to end."""
        old, new = node.pods[-1], node.next_pod()
        wait_until("the new Pod to be ready", lambda: (new.readiness() or (0,))[0] == 200, 30, 0.05)
        self.assertIn("standing by", new.readiness()[1])
        self.assertIn("standing by", new.jailer.log())
        self.terminate(node, old)
        return old

    def by_unavailability(self, node):
        """The new Pod comes when the old one has gone."""
        old = node.pods[-1]
        self.terminate(node, old)
        # Again, and to all: nothing bad comes of it.
        old.terminate()
        wait_until("the old Pod to end", old.ended, 90, 0.1)
        node.next_pod()
        return old

    def by_force(self, node):
        """The new Pod comes at once, while the old one still lets its runs end."""
        old = node.pods[-1]
        self.terminate(node, old)
        node.next_pod()
        return old

    def check(self, names):
        def all_over():
            items = self.cluster.plane.get("sbr", "-n", "default")["items"]
            mine = {item["metadata"]["name"]: item["status"] for item in items}
            if all(mine[name]["phase"] in TERMINAL for name in names):
                return mine
            return None
        statuses = wait_until("the stream to be over", all_over, 120, 0.5)
        self.marks.take()
        failed = {name: statuses[name] for name in names
                  if statuses[name]["phase"] != "Succeeded"
                  or statuses[name]["stdout"] != f"{name}\n"}
        self.assertEqual(failed, {}, failed)
        # Once, as seen from outside: one process has read the run's mark, once.
        again = {name: self.marks.read[name] for name in names if len(self.marks.read[name]) != 1}
        self.assertEqual(again, {})
        return statuses

    def test_no_run_fails_and_none_runs_twice(self):
        node_a, node_b = self.cluster.nodes
        stream = Stream(self)
        stream.start()
        self.addCleanup(stream.enough.set)
        wait_until("the stream to flow", lambda: len(stream.names) > 10)
        left = []
        for way, node in ((self.by_surge, node_a), (self.by_unavailability, node_b),
                          (self.by_force, node_a)):
            left.append(way(node))
            node.wait_ready()
        stream.stop()
        statuses = self.check(stream.names)
        for pod in left:
            self.assertEqual(pod.statuses(), [0, 0, 0], pod.name)
            self.assertNotIn('"level":"error"', pod.log())
        # Enough for the test to mean something: both nodes worked, and runs spanned the ends.
        self.assertEqual({statuses[name]["nodeName"] for name in stream.names}, {"node-a", "node-b"})
        self.assertGreater(len({s["agentInstance"] for s in statuses.values()}), 3)
        for node in self.cluster.nodes:
            self.assertEqual(node.spooled(), [])
        wait_until("the jails to be gone", lambda: not jails())

    def test_what_has_not_started_is_given_back(self):
        node_a, node_b = self.cluster.nodes
        names = [f"given-{i}" for i in range(8)]
        for name in names:
            self.marks.add(name)
        # Deaf for less than its lease is good for: runs are assigned to it, and it knows nothing.
        node_a.agent.child.send_signal(signal.SIGSTOP)
        self.addCleanup(node_a.agent.child.send_signal, signal.SIGCONT)
        for name in names:
            self.cluster.create(run_document(
                name, f"import os\n{code_of(name)}print('{name}')\n", queueTimeoutSeconds=600,
                resources={"limits": {"memory": "64Mi", "cpu": "100m"}}))
        def assigned():
            items = [self.cluster.get(name)["status"] for name in names]
            return items if all("nodeName" in status for status in items) else None
        first = dict(zip(names, wait_until("all of them to be assigned", assigned, 10, 0.1),
                         strict=True))
        waiting = [name for name in names if first[name]["nodeName"] == node_a.name]
        self.assertTrue(waiting)
        self.assertEqual({first[name]["phase"] for name in waiting}, {"Scheduled"})
        node_a.pods[-1].terminate()
        node_a.agent.child.send_signal(signal.SIGCONT)
        statuses = self.check(names)
        for name in waiting:
            self.assertEqual(statuses[name]["nodeName"], node_b.name)
            self.assertNotEqual(statuses[name]["sandboxID"], first[name]["sandboxID"])
        self.assertEqual(node_a.pods[-1].statuses(), [0, 0, 0])
        node_a.next_pod()
        node_a.wait_ready()


if __name__ == "__main__":
    unittest.main()
