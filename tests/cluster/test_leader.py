# SPDX-License-Identifier: Apache-2.0
"""Two controllers, of which one leads: what becomes of the lead, and of the runs, when it dies, ends,
is stopped, is cut off, or when somebody else writes its Lease.

A node is played here: a SandboxNode that is ready, with a Lease that is renewed. Which controller
wrote what is known from the API server's own record.
"""

import os
import re
import signal
import time
import unittest

from helpers.cable import Cable
from helpers.cluster import NAMESPACE, UID, Cluster, free_port, http_get, metric, run_document
from helpers.played_node import LEASES, PlayedNode
from helpers.rawapi import RawApi
from helpers.wait import wait_until

LEASE = f"{LEASES}/sandboxrun-controller"
RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"
LEASE_S, RETRY_S = 3, 0.5
SHORT = ("--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s",
         "--leader-elect-retry-period", "500ms")
# What a loaded machine may add.
SLACK_S = 20
# As client-go writes and reads it.
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Controller:
    """One of the two, with a Pod's identity of its own and a cable to the API server."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.kubeconfig = os.path.join(cluster.dir, f"{name}.kubeconfig")
        cluster.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-controller",
                                                 self.kubeconfig, node=name)
        os.chown(self.kubeconfig, UID, UID)
        self.cable = Cable(cluster.plane.port)
        self.cable.carry(self.kubeconfig, cluster.plane.server)
        self.port = free_port()
        self.process = None

    def start(self, *args):
        self.process = self.cluster.new_controller(
            self.name, "--kubeconfig", self.kubeconfig, "--health-address",
            f"127.0.0.1:{self.port}", *args)
        wait_until(f"{self.name} to be ready", self.ready)

    def get(self, path):
        if not self.process.alive():
            raise AssertionError(f"{self.name} ended: {self.process.log()}")
        try:
            return http_get(f"http://127.0.0.1:{self.port}{path}")
        except OSError:
            return 0, ""

    def ready(self):
        return self.get("/readyz")[0] == 200

    def metric(self, name):
        return metric(self.get("/metrics")[1], name)

    def leads(self):
        return self.metric("sandboxrun_controller_leader") == 1

    def signal(self, number):
        self.process.child.send_signal(number)

    def end(self):
        if self.process and self.process.alive():
            self.signal(signal.SIGCONT)
            self.process.kill()

    def requests(self):
        """What it has asked of the API server, as (time, verb, resource, code), finished only."""
        pod = f"sandboxrun-controller-{self.name}"
        return [(event["requestReceivedTimestamp"], event["verb"],
                 event["objectRef"]["resource"], event["responseStatus"]["code"])
                for event in self.cluster.plane.audit_events()
                if pod in event["user"].get("extra", {}).get(
                    "authentication.kubernetes.io/pod-name", ())
                and "responseStatus" in event and "objectRef" in event]

    def writes(self):
        return [request for request in self.requests() if request[1] not in ("get", "list", "watch")]


class TestLeader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(audit=True)
        cls.addClassCleanup(lambda: cls.cluster.stop())
        cls.cluster.start(nodes=())
        cls.cluster.controller.stop()
        cls.api = RawApi(cls.cluster.plane)
        cls.addClassCleanup(cls.api.close)
        node = PlayedNode(cls.cluster.plane, "played", runs=10000, memory="8Ti", cpu="9000")
        cls.addClassCleanup(node.remove)
        cls.number = 0

    def start_two(self, *args):
        """The first one leads."""
        self.api.delete(LEASE)
        self.since = self.api.get(RUNS, limit=1).body["metadata"]["resourceVersion"]
        both = []
        for word in ("first", "second"):
            type(self).number += 1
            controller = Controller(self.cluster, f"{word}-{self.number}")
            self.addCleanup(controller.cable.close)
            self.addCleanup(controller.end)
            controller.start(*(args or SHORT))
            both.append(controller)
            wait_until("the first one to lead", both[0].leads)
        return both

    def lease(self):
        return self.api.get(LEASE).body

    def wait_leads(self, controller, within=LEASE_S + RETRY_S + SLACK_S):
        wait_until(f"{controller.name} to lead", controller.leads, within)

    def create(self, count):
        """Runs that a controller is to assign; their names."""
        names = []
        for _ in range(count):
            type(self).number += 1
            names.append(f"run-{self.number}")
            answer = self.api.post(RUNS, run_document(names[-1], "print(1)",
                                                      queueTimeoutSeconds=3600))
            self.assertTrue(answer.accepted, answer.body)
        return names

    def wait_assigned(self, names):
        def probe():
            return all(self.api.get(f"{RUNS}/{name}").body["status"]["phase"] == "Scheduled"
                       for name in names)
        wait_until("the runs to be assigned", probe, 30, 0.1)

    def check_assigned_once(self, names):
        """Whoever wrote it: a claim has an effect also where its sender is killed before the answer."""
        sandboxes = {name: [] for name in names}
        for event in self.api.history(RUNS, self.since):
            status = event["object"].get("status", {})
            given = sandboxes.get(event["object"]["metadata"]["name"], [])
            if "sandboxID" in status and status["sandboxID"] not in given:
                given.append(status["sandboxID"])
        for name in names:
            self.assertEqual(len(sandboxes[name]), 1, (name, sandboxes[name]))

    def test_the_standby_is_ready_knows_all_and_writes_nothing(self):
        first, second = self.start_two()
        names = self.create(20)
        self.wait_assigned(names)
        self.assertTrue(second.ready())
        self.assertFalse(second.leads())
        self.assertEqual(second.writes(), [])
        scheduled = 'sandboxrun_controller_runs{phase="Scheduled"}'
        wait_until("both to know the same runs",
                   lambda: second.metric(scheduled) == first.metric(scheduled) is not None)
        self.assertEqual({write[2] for write in first.writes()}, {"leases", "sandboxruns"})
        self.check_assigned_once(names)

    def test_the_lease_reads_as_one_of_client_go(self):
        first, _ = self.start_two("--log-level=info")
        lease = self.lease()
        spec = lease["spec"]
        self.assertEqual(set(spec), {"holderIdentity", "leaseDurationSeconds", "acquireTime",
                                     "renewTime", "leaseTransitions"})
        self.assertRegex(spec["holderIdentity"], r"^[a-zA-Z0-9.-]+_[0-9a-f-]{36}$")
        self.assertEqual((spec["leaseDurationSeconds"], spec["leaseTransitions"]), (15, 0))
        for name in ("acquireTime", "renewTime"):
            self.assertRegex(spec[name], MICRO_TIME)
        # The API server's own reader of Leases, which is client-go's, prints it.
        described = self.cluster.kubectl("get", "lease", "sandboxrun-controller", "-n", NAMESPACE)
        self.assertIn(spec["holderIdentity"], described.stdout)
        wait_until("a renewal", lambda: self.lease()["spec"]["renewTime"] != spec["renewTime"])
        renewed = self.lease()["spec"]
        self.assertGreater(renewed["renewTime"], spec["renewTime"])
        for name in ("holderIdentity", "acquireTime", "leaseTransitions"):
            self.assertEqual(renewed[name], spec[name])
        self.assertTrue(first.leads())

    def test_a_killed_leader_is_replaced_and_no_run_is_assigned_twice(self):
        first, second = self.start_two()
        names = self.create(30)
        first.process.kill()
        names += self.create(10)
        self.wait_leads(second)
        names += self.create(10)
        self.wait_assigned(names)
        self.check_assigned_once(names)
        self.assertEqual(self.lease()["spec"]["leaseTransitions"], 1)
        # The first one's successor stands by.
        third = Controller(self.cluster, f"third-{self.number}")
        self.addCleanup(third.cable.close)
        self.addCleanup(third.end)
        third.start(*SHORT)
        self.assertFalse(third.leads())
        self.assertTrue(second.leads())

    def test_a_leader_that_ends_hands_over_at_once(self):
        # The defaults: a standby that waited for the Lease's end would take 15 s.
        first, second = self.start_two("--log-level=info")
        names = self.create(10)
        began = time.monotonic()
        first.signal(signal.SIGTERM)
        self.wait_leads(second, 10)
        passed = time.monotonic() - began
        self.assertEqual(first.process.child.wait(10), 0)
        names += self.create(10)
        self.wait_assigned(names)
        self.check_assigned_once(names)
        self.assertIn("gave the lease back", first.process.log())
        self.assertEqual(self.lease()["spec"]["leaseTransitions"], 1)
        print(f"(handed over in {passed:.2f} s) ", end="")
        # And the last one leaves it to whoever comes.
        second.signal(signal.SIGTERM)
        self.assertEqual(second.process.child.wait(10), 0)
        spec = self.lease()["spec"]
        self.assertEqual((spec.get("holderIdentity", ""), spec["leaseDurationSeconds"]), ("", 1))

    def test_a_stopped_leader_wakes_as_a_standby_and_has_written_nothing(self):
        first, second = self.start_two()
        first.signal(signal.SIGSTOP)
        names = self.create(20)
        self.wait_leads(second)
        self.wait_assigned(names)
        # More for it to do when it wakes: it knows nothing of these.
        second.signal(signal.SIGSTOP)
        names += self.create(20)
        before = len(first.writes())
        first.signal(signal.SIGCONT)
        self.wait_leads(first)
        self.wait_assigned(names)
        self.assertIn("can't renew the lease in time", first.process.log())
        # What it wrote first is the Lease, of which it had read that the other's time was over.
        woken = first.writes()[before:]
        self.assertEqual(woken[0][1:], ("patch", "leases", 200))
        self.assertIn("sandboxruns", [write[2] for write in woken])
        second.signal(signal.SIGCONT)
        wait_until("the second one to notice",
                   lambda: second.metric("sandboxrun_controller_leader") == 0)
        self.assertTrue(first.leads())
        self.check_assigned_once(names)

    def test_a_leader_that_is_cut_off_stops_and_stands_by(self):
        first, second = self.start_two()
        first.cable.cut()
        seen = []
        def replaced():
            seen.append((first.leads(), second.leads()))
            return second.leads()
        wait_until("the other one to lead", replaced, LEASE_S + RETRY_S + SLACK_S, 0.05)
        # It was asked first, so that both may seem to lead only if both do.
        self.assertNotIn((True, True), seen)
        self.assertIn((False, False), seen)
        names = self.create(10)
        self.wait_assigned(names)
        self.assertEqual(first.get("/healthz")[0], 200)
        first.cable.mend()
        wait_until("it to be ready again", first.ready, 60)
        self.assertFalse(first.leads())
        # With all it knows it takes over again.
        second.process.kill()
        self.wait_leads(first)
        names += self.create(10)
        self.wait_assigned(names)
        self.check_assigned_once(names)

    def test_a_lease_that_is_deleted_is_made_again(self):
        first, second = self.start_two()
        for _ in range(3):
            self.assertTrue(self.api.delete(LEASE).accepted)
            wait_until("the lease to be made again", lambda: self.api.get(LEASE).status == 200)
        wait_until("one to lead", lambda: first.leads() or second.leads(), LEASE_S + SLACK_S)
        names = self.create(5)
        self.wait_assigned(names)

    def test_whatever_others_write_is_overcome(self):
        first, second = self.start_two()
        absurd = [
            {"holderIdentity": "somebody", "renewTime": "9999-12-31T23:59:59.999999Z"},
            {"holderIdentity": "h" * 100000, "leaseDurationSeconds": 2147483647},
            {"holderIdentity": "somebody", "leaseTransitions": 2147483647, "renewTime": None,
             "acquireTime": None, "leaseDurationSeconds": None},
            {"holderIdentity": ""},
            {"holderIdentity": None, "acquireTime": "0001-01-01T00:00:00.000000Z"},
        ]
        for spec in absurd:
            answer = self.api.patch(LEASE, {"spec": spec})
            self.assertTrue(answer.accepted, answer.body)
            def back():
                holder = self.lease()["spec"].get("holderIdentity")
                return holder and holder != spec["holderIdentity"] and (first.leads()
                                                                        or second.leads())
            wait_until(f"one to lead after {str(spec)[:80]}", back, LEASE_S + RETRY_S + SLACK_S)
            # Who led before may hear of it a moment later.
            wait_until("only one to lead", lambda: not (first.leads() and second.leads()))
            self.assertEqual(self.lease()["spec"]["leaseDurationSeconds"], LEASE_S)
        # What the API server refuses nobody meets.
        for spec in ({"leaseDurationSeconds": -15}, {"leaseTransitions": -1}):
            self.assertEqual(self.api.patch(LEASE, {"spec": spec}).status, 422)
        names = self.create(5)
        self.wait_assigned(names)


if __name__ == "__main__":
    unittest.main()
