# SPDX-License-Identifier: Apache-2.0
"""Who may do what, asked of a real API server: what RBAC grants, what the policies take away from
it, and the words in which they do."""

import shutil
import tempfile
import unittest

from helpers.cluster import run_document
from helpers.identities import RUNS, Identities, lease, node
from helpers.manifests import NAMESPACE
from helpers.played_node import LEASES, NODES
from helpers.rawapi import RawApi
from helpers.wait import wait_until

identities = None

GROUP = "sandboxrun.dev"
READ = {"get", "list", "watch"}
WRITE = {"create", "update", "patch", "delete", "deletecollection"}
VERBS = sorted(READ | WRITE)
LEASE = ("coordination.k8s.io", "leases")

# What RBAC grants in a namespace, and nothing else of RESOURCES: (group, resource) -> verbs.
GRANTED = {
    "stranger": {},
    "viewer": {(GROUP, "sandboxruns"): READ, (GROUP, "sandboxruns/log"): {"get"}},
    "editor": {(GROUP, "sandboxruns"): READ | WRITE, (GROUP, "sandboxruns/log"): {"get"}},
    "owner": {(GROUP, "sandboxruns"): READ | WRITE, (GROUP, "sandboxruns/log"): {"get"}},
    "agent-a": {
        (GROUP, "sandboxruns"): READ,
        (GROUP, "sandboxruns/status"): {"patch"},
        (GROUP, "sandboxnodes"): {"get", "create"},
        (GROUP, "sandboxnodes/status"): {"patch"},
        ("events.k8s.io", "events"): {"create", "patch"},
        ("authentication.k8s.io", "tokenreviews"): {"create"},
        ("authorization.k8s.io", "subjectaccessreviews"): {"create"},
    },
    "controller": {
        (GROUP, "sandboxruns"): READ | {"delete"},
        (GROUP, "sandboxruns/status"): {"patch"},
        (GROUP, "sandboxnodes"): READ,
        ("", "nodes"): {"list", "watch"},
        ("events.k8s.io", "events"): {"create", "patch"},
    },
}
OURS = [(GROUP, name) for name in ("sandboxruns", "sandboxruns/status", "sandboxruns/log",
                                   "sandboxnodes", "sandboxnodes/status")]
OTHERS = [("", name) for name in ("secrets", "configmaps", "pods", "pods/exec", "pods/log", "nodes",
                                  "nodes/proxy", "namespaces", "events", "serviceaccounts",
                                  "serviceaccounts/token")]
OTHERS += [LEASE, ("events.k8s.io", "events"), ("authentication.k8s.io", "tokenreviews"),
           ("authorization.k8s.io", "subjectaccessreviews"), ("apps", "daemonsets"),
           ("rbac.authorization.k8s.io", "clusterroles"),
           ("rbac.authorization.k8s.io", "rolebindings"),
           ("admissionregistration.k8s.io", "validatingadmissionpolicies")]


def setUpModule():
    global identities
    directory = tempfile.mkdtemp(prefix="sandboxrun-rbac-")
    unittest.addModuleCleanup(shutil.rmtree, directory, ignore_errors=True)
    identities = Identities(directory)
    identities.__enter__()
    unittest.addModuleCleanup(identities.__exit__)


def run(name):
    return run_document(name, "print(1)")


def assigned(to, **more):
    return {"phase": "Scheduled", "nodeName": to, "agentInstance": "instance-1",
            "sandboxID": "sandbox-0001", **more}


def result(**more):
    return {"phase": "Succeeded", "reason": "Completed", "exitCode": 0, "stdout": "1\n", **more}


GIVEN_BACK = {"phase": "Pending", "nodeName": None, "agentInstance": None, "sandboxID": None}
NO_NODE = "the token names no node: an agent needs the token of its Pod, from Kubernetes 1.30"
TO_A = "the run is assigned to node node-a, and the agent is that of node node-b"
TO_B = "the run is assigned to node node-b, and the agent is that of node node-a"
TO_NONE = "the run is not assigned, and the agent is that of node node-a"
NOT_ITS_OWN = "the agent of node node-a writes nothing of "
FIXED = "never change once set"


def status(name, value, namespace="default"):
    return "PATCH", f"{RUNS.format(namespace)}/{name}/status", {"status": value}


def event(reporter="node-a", **regarding):
    regarding = {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
                 "namespace": "default", "name": "on-a", **regarding}
    return "POST", "/apis/events.k8s.io/v1/namespaces/default/events", {
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": "on-a.1", "namespace": "default"}, "regarding": regarding,
        "eventTime": "2026-01-02T03:04:05.000000Z", "type": "Warning", "reason": "Denied",
        "action": "Run", "note": "a note", "reportingController": "sandboxrun.dev/node-agent",
        "reportingInstance": reporter}


# (who, request, fragment of the refusal or None): dry runs, which pass all but the store.
REQUESTS = [
    # The status of runs.
    ("agent-a", status("on-a", {"phase": "Running"}), None),
    ("agent-a", status("on-a", result()), None),
    ("agent-a", status("on-a", GIVEN_BACK), None),
    ("agent-a", status("on-b", {"phase": "Running"}), TO_B),
    ("agent-a", status("on-b", result()), TO_B),
    ("agent-a", status("on-b", GIVEN_BACK), TO_B),
    ("agent-b", status("on-a", result()), TO_A),
    ("agent-b", status("on-b", result()), None),
    ("agent-a", status("free", assigned("node-a")), TO_NONE),
    ("agent-a", status("free", assigned("node-b")), TO_NONE),
    ("agent-a", status("free", {"phase": "Failed", "reason": "InvalidSpec", "exitCode": -1}),
     TO_NONE),
    ("agent-a", status("on-a", {"nodeName": "node-b"}), FIXED),
    ("agent-a", status("on-a", {"agentInstance": "instance-2"}), FIXED),
    ("agent-a", status("on-a", {"sandboxID": "sandbox-0002"}), FIXED),
    ("agent-a", status("done-a", {"message": "or not"}), "the run has finished, and its status is"),
    ("agent-a", status("done-a", {"usage": {"cpuMilliseconds": 1}}), "the run has finished"),
    ("agent-a", status("done-a", {"stdout": "2\n"}), "of a finished run never change"),
    ("agent-a", status("done-a", {"stdout": "1\n"}), None),
    ("agent-lost", status("on-a", result()), NO_NODE),
    ("agent-lost", status("free", assigned("node-a")), NO_NODE),
    ("agent-a", ("PUT", f"{RUNS.format('default')}/on-a/status", run("on-a")), "cannot update"),
    # What is the node's.
    ("agent-a", ("PATCH", f"{NODES}/node-a/status", {"status": {"instance": "i-1"}}), None),
    ("agent-a", ("PATCH", f"{NODES}/node-b/status", {"status": {"instance": "i-1"}}),
     NOT_ITS_OWN + "node-b"),
    ("agent-lost", ("PATCH", f"{NODES}/node-a/status", {"status": {"instance": "i-1"}}), NO_NODE),
    ("agent-b", ("POST", NODES, node("node-b2")), "the agent of node node-b writes nothing of"),
    ("agent-lost", ("POST", NODES, node("node-x")), NO_NODE),
    ("agent-a", ("PATCH", f"{NODES}/node-a", {"metadata": {"labels": {"a": "b"}}}), "cannot patch"),
    ("agent-a", ("DELETE", f"{NODES}/node-a", None), "cannot delete"),
    # Heartbeats.
    ("agent-a", ("PATCH", f"{LEASES}/node-a", {"spec": {"holderIdentity": "me"}}), None),
    ("agent-a", ("PATCH", f"{LEASES}/node-b", {"spec": {"holderIdentity": "me"}}),
     NOT_ITS_OWN + "node-b"),
    ("agent-a", ("PATCH", f"{LEASES}/sandboxrun-controller", {"spec": {"holderIdentity": "me"}}),
     NOT_ITS_OWN + "sandboxrun-controller"),
    ("agent-a", ("POST", LEASES, lease("node-c")), NOT_ITS_OWN + "node-c"),
    ("agent-lost", ("PATCH", f"{LEASES}/node-a", {"spec": {"holderIdentity": "me"}}), NO_NODE),
    ("agent-lost", ("POST", LEASES, lease("node-c")), NO_NODE),
    ("agent-a", ("DELETE", f"{LEASES}/node-a", None), "cannot delete"),
    ("agent-a", ("GET", LEASES, None), "cannot list"),
    ("agent-a", ("POST", LEASES.replace(NAMESPACE, "default"), lease("node-a")), "cannot create"),
    # Events.
    ("agent-a", event(), None),
    ("agent-a", event("node-b"), "names the agent's node as its reportingInstance"),
    ("agent-a", event(kind="Pod", apiVersion="v1"), "is about a SandboxRun of its own namespace"),
    ("agent-a", event(kind="Pod"), "is about a SandboxRun of its own namespace"),
    ("agent-a", event(apiVersion="example.com/v1"), "is about a SandboxRun of its own namespace"),
    ("agent-lost", event(), NO_NODE),
    # What an agent has no business with.
    ("agent-a", ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets", None), "cannot list"),
    ("agent-a", ("GET", "/api/v1/namespaces/default/secrets/any", None), "cannot get"),
    ("agent-a", ("GET", "/api/v1/pods", None), "cannot list"),
    ("agent-a", ("GET", "/api/v1/namespaces/default/configmaps/any", None), "cannot get"),
    ("agent-a", ("GET", "/api/v1/nodes/node-a", None), "cannot get"),
    ("agent-a", ("POST", RUNS.format("default"), run("new")), "cannot create"),
    ("agent-a", ("PATCH", f"{RUNS.format('default')}/on-a", {"spec": {}}), "cannot patch"),
    ("agent-a", ("DELETE", f"{RUNS.format('default')}/on-a", None), "cannot delete"),
    ("agent-a", ("GET", f"{RUNS.format('default')}/on-b", None), None),
    # The controller.
    ("controller", status("free", assigned("node-a")), None),
    ("controller", status("free", {"phase": "Failed", "reason": "QueueTimeout", "exitCode": -1}),
     None),
    ("controller", status("on-a", {"phase": "Failed", "reason": "NodeLost", "exitCode": -1}), None),
    ("controller", status("on-a", {"phase": "Running"}), "into phase Running or Succeeded"),
    ("controller", status("on-a", result()), "into phase Running or Succeeded"),
    ("controller", status("on-a", {"phase": "Failed", "reason": "Error", "exitCode": 3}),
     "writes no exit code but -1"),
    ("controller", status("on-a", {"stdout": "1\n"}), "writes nothing of what a program did"),
    ("controller", status("on-a", {"usage": {"cpuMilliseconds": 1}}),
     "writes nothing of what a program did"),
    ("controller", ("DELETE", f"{RUNS.format('default')}/free", None), None),
    ("controller", ("PATCH", f"{RUNS.format('default')}/free", {"spec": {}}), "cannot patch"),
    ("controller", ("POST", NODES, node("node-d")), "cannot create"),
    ("controller", ("PATCH", f"{NODES}/node-a/status", {"status": {}}), "cannot patch"),
    ("controller", ("GET", LEASES, None), None),
    ("controller", ("PATCH", f"{LEASES}/sandboxrun-controller", {"spec": {"holderIdentity": "me"}}),
     None),
    ("controller", ("PATCH", f"{LEASES}/node-a", {"spec": {"holderIdentity": "me"}}),
     "cannot patch"),
    ("controller", ("POST", LEASES, lease("node-c")),
     "the controller writes no Lease but sandboxrun-controller"),
    ("controller", ("DELETE", f"{LEASES}/node-a", None), "cannot delete"),
    ("controller", ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets", None), "cannot list"),
    # Users.
    ("stranger", ("GET", f"{RUNS.format('default')}/free", None), "cannot get"),
    ("viewer", ("GET", f"{RUNS.format('default')}/free", None), None),
    ("viewer", ("GET", RUNS.format("default"), None), None),
    ("viewer", ("GET", RUNS.format(NAMESPACE), None), "cannot list"),
    ("viewer", ("POST", RUNS.format("default"), run("new")), "cannot create"),
    ("viewer", ("DELETE", f"{RUNS.format('default')}/free", None), "cannot delete"),
    ("viewer", status("free", assigned("node-a")), "cannot patch"),
    ("viewer", ("GET", NODES, None), "cannot list"),
    ("editor", ("POST", RUNS.format("default"), run("new")), None),
    ("editor", ("PATCH", f"{RUNS.format('default')}/free",
                {"spec": {"ttlSecondsAfterFinished": 5}}), None),
    ("editor", ("DELETE", f"{RUNS.format('default')}/free", None), None),
    ("editor", ("POST", RUNS.format(NAMESPACE), run("new")), "cannot create"),
    ("editor", status("free", assigned("node-a")), "cannot patch"),
    ("editor", status("on-a", result()), "cannot patch"),
    ("editor", ("PUT", f"{RUNS.format('default')}/free/status", run("free")), "cannot update"),
    ("owner", ("POST", RUNS.format("default"), run("new")), None),
    ("owner", status("on-a", result()), "cannot patch"),
    ("owner", ("PUT", f"{RUNS.format('default')}/free/status", run("free")), "cannot update"),
]

# The same with rights that RBAC doesn't give the accounts, in namespace `loose`: whoever binds more
# to them than is shipped gets no further.
LOOSE = RUNS.format("loose")
LOOSE_REQUESTS = [
    ("agent-a", ("POST", LOOSE, run("new")), "an agent writes nothing of a run but its status"),
    ("agent-a", ("PATCH", f"{LOOSE}/on-a", {"metadata": {"labels": {"a": "b"}}}),
     "an agent writes nothing of a run but its status"),
    ("agent-a", ("DELETE", f"{LOOSE}/on-a", None),
     "an agent writes nothing of a run but its status"),
    ("agent-a", ("DELETE", f"{NODES}/node-b", None), NOT_ITS_OWN + "node-b"),
    ("agent-a", ("DELETE", f"{NODES}/node-a", None), None),
    ("agent-a", ("PATCH", f"{NODES}/node-b", {"metadata": {"labels": {"a": "b"}}}),
     NOT_ITS_OWN + "node-b"),
    ("agent-a", ("DELETE", f"{LEASES}/node-b", None), NOT_ITS_OWN + "node-b"),
    ("agent-a", ("DELETE", f"{LEASES}/node-a", None), None),
    ("controller", ("PATCH", f"{LEASES}/node-a", {"spec": {"holderIdentity": "me"}}),
     "the controller writes no Lease but sandboxrun-controller"),
    ("controller", ("DELETE", f"{LEASES}/node-a", None),
     "the controller writes no Lease but sandboxrun-controller"),
]


class TestRoles(unittest.TestCase):
    """Every verb on all that is ours and on what an attacker would want, as RBAC sees it."""

    def granted(self, who, resources, namespace):
        found = {}
        for group, resource in resources:
            verbs = {verb for verb in VERBS
                     if identities.may(who, verb, group, resource, namespace=namespace)}
            if verbs:
                found[group, resource] = verbs
        return found

    def test_users_in_their_namespace(self):
        for who in ("stranger", "viewer", "editor", "owner"):
            with self.subTest(who):
                self.assertEqual(self.granted(who, OURS, "default"), GRANTED[who])

    def test_users_elsewhere(self):
        for who in ("stranger", "viewer", "editor", "owner"):
            with self.subTest(who):
                self.assertEqual(self.granted(who, OURS, NAMESPACE), {})

    def test_agent_and_controller(self):
        for who in ("agent-a", "controller"):
            with self.subTest(who):
                self.assertEqual(self.granted(who, OURS + OTHERS, "default"), GRANTED[who])

    def test_leases_are_those_of_the_system_namespace(self):
        self.assertEqual(self.granted("agent-a", [LEASE], NAMESPACE),
                         {LEASE: {"get", "create", "patch"}})
        # What it may patch is its own, by name.
        self.assertEqual(self.granted("controller", [LEASE], NAMESPACE), {LEASE: READ | {"create"}})
        for who in ("agent-a", "controller"):
            self.assertEqual(self.granted(who, [LEASE], "kube-node-lease"), {})


class TestRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        admin = identities["admin"]
        cls.kubectl = identities.plane.kubectl
        for namespace in ("default", "loose"):
            path = RUNS.format(namespace)
            if namespace != "default":
                cls.kubectl("create", "namespace", namespace)
            for name in ("free", "on-a", "on-b", "done-a"):
                cls.accepted(admin.post(path, run(name)))
            for name, to in (("on-a", "node-a"), ("on-b", "node-b"), ("done-a", "node-a")):
                cls.accepted(admin.patch(f"{path}/{name}/status", {"status": assigned(to)}))
            cls.accepted(admin.patch(f"{path}/done-a/status", {"status": result()}))
        cls.accepted(admin.post(LEASES, lease("sandboxrun-controller")))
        # What is its own an agent makes itself.
        for who, name in (("agent-a", "node-a"), ("agent-b", "node-b")):
            cls.accepted(identities[who].post(NODES, node(name)))
            cls.accepted(identities[who].post(LEASES, lease(name)))

    @staticmethod
    def accepted(answer):
        if not answer.accepted:
            raise AssertionError(answer.message)
        return answer.body

    def judge(self, requests):
        for who, (method, path, body), refusal in requests:
            with self.subTest(who=who, request=f"{method} {path}", body=body):
                content = "application/merge-patch+json" if method == "PATCH" else \
                    "application/json"
                query = {} if method == "GET" else {"dryRun": "All"}
                answer = identities[who].request(method, path, body, content, **query)
                if refusal is None:
                    self.assertTrue(answer.accepted, answer.message)
                else:
                    self.assertIn(answer.status, (422,) if refusal in (
                        FIXED, "of a finished run never change") else (403,), answer.message)
                    self.assertIn(refusal, answer.message)

    def test_requests(self):
        self.judge(REQUESTS)

    def test_rights_that_somebody_adds_do_not_lead_past_the_policies(self):
        self.kubectl("create", "clusterrole", "too-much", "--verb=*",
                     "--resource=sandboxruns.sandboxrun.dev,sandboxnodes.sandboxrun.dev,"
                     "leases.coordination.k8s.io")
        self.kubectl("create", "clusterrolebinding", "too-much", "--clusterrole=too-much",
                     f"--serviceaccount={NAMESPACE}:sandboxrun-agent",
                     f"--serviceaccount={NAMESPACE}:sandboxrun-controller")
        try:
            self.wait_until_rights_are(True)
            self.judge(LOOSE_REQUESTS)
        finally:
            self.kubectl("delete", "clusterrolebinding/too-much", "clusterrole/too-much")
            self.wait_until_rights_are(False)

    def wait_until_rights_are(self, there):
        wait_until("RBAC to see the change", lambda: all(
            identities.may(who, "delete", *LEASE, namespace=NAMESPACE) is there
            for who in ("agent-a", "controller")))

    def test_a_node_with_the_name_of_the_controller_s_lease_does_not_get_it(self):
        plane = identities.plane
        plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent",
                                         node="sandboxrun-controller")
        odd = RawApi(plane, "sandboxrun-agent-sandboxrun-controller")
        self.addCleanup(odd.close)
        answer = odd.patch(f"{LEASES}/sandboxrun-controller", {"spec": {"holderIdentity": "me"}})
        self.assertEqual(answer.status, 403)
        self.assertIn("the Lease sandboxrun-controller is the controller's", answer.message)

    def test_through_the_status_an_agent_changes_nothing_else(self):
        path = f"{RUNS.format('loose')}/on-a"
        before = self.accepted(identities["admin"].get(path))
        self.accepted(identities["agent-a"].patch(f"{path}/status", {
            "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"},
                         "finalizers": ["example.com/hold"],
                         "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n",
                                              "uid": "1"}]},
            "spec": {"code": "print(2)"}, "status": {"phase": "Running"}}))
        after = self.accepted(identities["admin"].get(path))
        self.assertEqual(after["status"]["phase"], "Running")
        self.assertEqual(after["spec"], before["spec"])
        for field in ("labels", "annotations", "finalizers", "ownerReferences"):
            self.assertNotIn(field, after["metadata"])

    def test_a_user_who_creates_a_run_with_a_status_creates_one_without(self):
        made = self.accepted(identities["editor"].post(RUNS.format("default"), {
            **run("forged"), "status": {**assigned("node-a"), **result()}}))
        self.assertEqual(made["status"]["phase"], "Pending")
        self.assertNotIn("stdout", made["status"])
        changed = self.accepted(identities["editor"].patch(
            f"{RUNS.format('default')}/forged", {"status": {**assigned("node-a"), **result()}}))
        self.assertEqual(changed["status"], made["status"])


if __name__ == "__main__":
    unittest.main()
