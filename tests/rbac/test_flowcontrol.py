# SPDX-License-Identifier: Apache-2.0
"""A tenant's storm of requests at the API server's limit, and those whom it must not hold up.

The server takes few requests at once. The tenant is a service account, as an agent platform in the
cluster is: without the shipped levels it would share one with the controller and the node agents.
"""

import http.client
import os
import re
import shutil
import tempfile
import threading
import time
import unittest

from helpers.cluster import BIN, NAMESPACE, Process, run_document
from helpers.identities import RUNS, Identities
from helpers.played_node import LEASES, NODES, now, register
from helpers.rawapi import RawApi
from helpers.wait import wait_until

# For reads and for writes, instead of 400 and 200.
INFLIGHT = 8
# A service account's requests wait in 6 queues of 50; more of them are answered with 429.
CONNECTIONS = 400
STORM_S = 18.0
# An agent's without a renewal starts nothing after 15 s, and is lost after 40.
LONGEST_GAP_S = 15.0
RENEW_S = 1.0
PLANE_ARGS = ("--", f"--max-requests-inflight={INFLIGHT}",
              f"--max-mutating-requests-inflight={INFLIGHT}")
FLOW = "X-Kubernetes-Pf-Flowschema-Uid"
LEVEL = "X-Kubernetes-Pf-Prioritylevel-Uid"
REJECTED, DISPATCHED = (
    re.compile(rf'apiserver_flowcontrol_{what}_requests_total'
               r'\{.*priority_level="([^"]+)".*\} (\S+)')
    for what in ("rejected", "dispatched"))


class Storm:
    """Creates runs that no node takes, over many connections, as fast as the server answers."""

    def __init__(self, api, namespace):
        self.api = api
        self.path = RUNS.format(namespace)
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.answers = {}
        self.threads = [threading.Thread(target=self._blow, args=(i,), daemon=True)
                        for i in range(CONNECTIONS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def count(self, status):
        with self.lock:
            return self.answers.get(status, 0)

    def _blow(self, number):
        api, made = self.api.another(), 0
        while not self.over.is_set():
            made += 1
            try:
                status = api.post(self.path, run_document(
                    f"storm-{number}-{made}", "print(1)",
                    nodeSelector={"no": "such-node"})).status
            except (OSError, http.client.HTTPException):
                # The server closes connections under load; the next request makes one.
                api.close()
                status = 0
            with self.lock:
                self.answers[status] = self.answers.get(status, 0) + 1
            if status != 201:
                self.over.wait(0.5)
        api.close()


class Heartbeat:
    """Renews a node's Lease as its agent does, with the agent's identity."""

    def __init__(self, api, name):
        self.api = api.another()
        self.name = name
        self.over = threading.Event()
        self.renewals = [time.monotonic()]
        self.failed = []
        self.thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.over.set()
        self.thread.join()
        self.api.close()

    def longest_gap(self):
        times = self.renewals + [time.monotonic()]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def _beat(self):
        while not self.over.wait(RENEW_S):
            try:
                answer = self.api.patch(f"{LEASES}/{self.name}", {"spec": {"renewTime": now()}})
            except (OSError, http.client.HTTPException) as error:
                self.api.close()
                self.failed.append(str(error))
                continue
            if answer.accepted:
                self.renewals.append(time.monotonic())
            else:
                self.failed.append(answer.message)


class TestFlowControl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="sandboxrun-flow-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        os.chmod(cls.dir, 0o755)
        cls.identities = Identities(os.path.join(cls.dir, "plane"), PLANE_ARGS)
        cls.identities.__enter__()
        cls.addClassCleanup(cls.identities.__exit__)
        cls.admin = cls.identities["admin"]
        plane = cls.identities.plane
        plane.kubectl("create", "namespace", "storm")
        plane.kubectl("create", "serviceaccount", "tenant", "-n", "storm")
        plane.kubectl("create", "rolebinding", "tenant", "-n", "storm", "--clusterrole=edit",
                      "--serviceaccount=storm:tenant")
        plane.service_account_kubeconfig("storm/tenant")
        cls.tenant = RawApi(plane, "tenant")
        cls.addClassCleanup(cls.tenant.close)
        cls.uids = {kind: cls.uids_of(kind) for kind in ("flowschemas",
                                                         "prioritylevelconfigurations")}
        # A change of levels is in force a moment after it was made.
        wait_until("the levels to be in force", lambda: cls.classified(
            cls.identities["agent-a"].get(f"{LEASES}/node-a"))[0] == "sandboxrun-heartbeats")

    @classmethod
    def uids_of(cls, kind):
        items = cls.admin.get(f"/apis/flowcontrol.apiserver.k8s.io/v1/{kind}").body["items"]
        return {item["metadata"]["uid"]: item["metadata"]["name"] for item in items}

    @classmethod
    def classified(cls, answer):
        """The schema that a request has matched, and the level that it was served on."""
        return (cls.uids["flowschemas"].get(answer.headers[FLOW]),
                cls.uids["prioritylevelconfigurations"].get(answer.headers[LEVEL]))

    def test_1_no_schema_dangles(self):
        items = self.admin.get("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas").body["items"]
        ours = {item["metadata"]["name"]: item for item in items
                if item["metadata"]["name"].startswith("sandboxrun-")}
        self.assertEqual(set(ours), {"sandboxrun-heartbeats", "sandboxrun-controller",
                                     "sandboxrun-agents"})
        for item in ours.values():
            self.assertEqual([c["status"] for c in item["status"]["conditions"]
                              if c["type"] == "Dangling"], ["False"])

    def test_2_requests_are_told_apart(self):
        other_leases = LEASES.replace(NAMESPACE, "kube-node-lease")
        heartbeats, agents, controller, tenants = (
            ("sandboxrun-heartbeats",) * 2, ("sandboxrun-agents",) * 2,
            ("sandboxrun-controller",) * 2, ("service-accounts", "workload-low"))
        for who, method, path, body, expected in (
                ("agent-a", "GET", f"{LEASES}/node-a", None, heartbeats),
                ("agent-a", "PATCH", f"{LEASES}/node-a", {"spec": {}}, heartbeats),
                ("agent-b", "POST", LEASES, {}, heartbeats),
                ("controller", "GET", LEASES, None, heartbeats),
                ("controller", "PATCH", f"{LEASES}/sandboxrun-controller", {"spec": {}},
                 heartbeats),
                ("agent-a", "GET", f"{other_leases}/node-a", None, agents),
                ("agent-a", "GET", "/apis/sandboxrun.dev/v1alpha1/sandboxruns", None, agents),
                ("agent-a", "PATCH", f"{RUNS.format('default')}/any/status", {}, agents),
                ("agent-b", "GET", f"{NODES}/node-b", None, agents),
                ("controller", "GET", NODES, None, controller),
                ("controller", "GET", "/apis/sandboxrun.dev/v1alpha1/sandboxruns", None,
                 controller),
                ("controller", "PATCH", f"{RUNS.format('default')}/any/status", {}, controller),
                ("tenant", "GET", RUNS.format("storm"), None, tenants),
                ("viewer", "GET", LEASES, None, ("global-default",) * 2)):
            with self.subTest(who=who, request=f"{method} {path}"):
                api = self.tenant if who == "tenant" else self.identities[who]
                content = "application/merge-patch+json" if method == "PATCH" else \
                    "application/json"
                self.assertEqual(self.classified(api.request(method, path, body, content)),
                                 expected)

    def test_3_a_storm_holds_up_no_heartbeat_and_no_assignment(self):
        self.start_controller()
        agent = self.identities["agent-a"]
        register(agent, "node-a")
        with Heartbeat(agent, "node-a") as heartbeat:
            self.assigned("calm")
            with Storm(self.tenant, "storm") as storm:
                wait_until("the server to be at its limit", lambda: storm.count(429) >= 50, 60)
                since = time.monotonic()
                number = 0
                while time.monotonic() - since < STORM_S:
                    number += 1
                    self.assigned(f"stormy-{number}")
                    storm.over.wait(1)
                refused = storm.count(429)
                counted = self.counts()
                # Up to now: what is still to come ends with the storm.
                gap = heartbeat.longest_gap()
        print(f"\n{storm.count(201)} runs created and {refused} requests turned away in "
              f"{STORM_S:.0f} s; longest gap between renewals {gap:.1f} s, "
              f"{number} runs assigned meanwhile")
        self.assertGreater(refused, 50)
        self.assertGreater(number, 1)
        self.assertLess(gap, LONGEST_GAP_S, heartbeat.failed)
        rejected, dispatched = counted
        self.assertGreater(rejected.get("workload-low", 0), 0)
        for level in ("sandboxrun-heartbeats", "sandboxrun-controller", "sandboxrun-agents"):
            self.assertGreater(dispatched.get(level, 0), 0, level)
        # The controller has something to say of each run of the storm, and may have to wait too
        # long with that; it asks again.
        for level in ("sandboxrun-heartbeats", "sandboxrun-agents"):
            self.assertEqual(rejected.get(level, 0), 0, level)
        self.assertNotIn("NodeLost", self.controller.log())

    def start_controller(self):
        plane = self.identities.plane
        kubeconfig = os.path.join(self.dir, "controller.kubeconfig")
        shutil.copy(plane.kubeconfig("controller"), kubeconfig)
        self.controller = Process(
            "controller", [os.path.join(BIN, "sandboxrun-controller"), "--kubeconfig", kubeconfig,
                           "--lease-namespace", NAMESPACE], self.dir)
        self.addCleanup(self.controller.stop)

    def assigned(self, name):
        """An administrator's requests are exempt: what is waited for here is the controller."""
        path = RUNS.format("default")
        limits = {"limits": {"memory": "32Mi", "cpu": "10m"}}
        answer = self.admin.post(path, run_document(name, "print(1)", resources=limits))
        self.assertTrue(answer.accepted, answer.message)
        status = wait_until(f"{name} to be assigned", lambda: (
            lambda found: found if found["phase"] != "Pending" else None)(
                self.admin.get(f"{path}/{name}").body["status"]), timeout=60, interval=0.05)
        self.assertEqual((status["phase"], status.get("nodeName")), ("Scheduled", "node-a"))

    def counts(self):
        """Requests rejected and served so far, by level."""
        text = self.identities.plane.kubectl("get", "--raw", "/metrics").stdout
        found = []
        for pattern in (REJECTED, DISPATCHED):
            numbers = {}
            for level, value in pattern.findall(text):
                numbers[level] = numbers.get(level, 0) + float(value)
            found.append(numbers)
        return found


if __name__ == "__main__":
    unittest.main()
