# SPDX-License-Identifier: Apache-2.0
"""An API server with all of manifests/ in it, and those who ask it for something.

    with Identities(directory) as identities:
        identities["agent-a"].patch(path, body)     # a RawApi; 403 is an answer
        identities.may("editor", "create", "sandboxrun.dev", "sandboxruns", namespace="default")

    admin       may everything
    agent-a     the token of the agent's Pod on node-a
    agent-b     the same on node-b
    agent-lost  a token of the agents' account that names no node
    controller  the token of the controller's Pod
    viewer, editor, owner  users with the ClusterRoles view, edit, admin in namespace default
    stranger    a user without any right
"""

import os

from helpers.controlplane import ControlPlane
from helpers.manifests import MANIFESTS, NAMESPACE, wait_until_agents_are_bound
from helpers.rawapi import RawApi
from helpers.wait import wait_until

AGENT, CONTROLLER = "sandboxrun-agent", "sandboxrun-controller"
ACCOUNTS = {"agent-a": (AGENT, "node-a"), "agent-b": (AGENT, "node-b"),
            "agent-lost": (AGENT, None), "controller": (CONTROLLER, "node-c")}
USERS = {"viewer": "view", "editor": "edit", "owner": "admin", "stranger": None}
# On a machine that has other things to do.
SETUP_TIMEOUT_S = 120
RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/{}/sandboxruns"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def lease(name):
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40}}


def node(name):
    return {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxNode",
            "metadata": {"name": name}}


class Identities:
    def __init__(self, directory, args=()):
        self.plane = ControlPlane(directory, args=args)
        self.apis = {}
        self.names = {}

    def __enter__(self):
        self.plane.start(timeout=SETUP_TIMEOUT_S)
        try:
            self.install()
        except BaseException:
            self.plane.kill()
            raise
        return self

    def __exit__(self, *exception):
        for api in self.apis.values():
            api.close()
        # Nobody needs its data again.
        self.plane.kill()

    def __getitem__(self, name):
        return self.apis[name]

    def install(self):
        plane = self.plane
        plane.kubectl("apply", "-k", MANIFESTS)
        plane.kubectl("wait", "--for=condition=Established", f"--timeout={SETUP_TIMEOUT_S}s",
                      "crd/sandboxruns.sandboxrun.dev", "crd/sandboxnodes.sandboxrun.dev")
        self.apis["admin"] = RawApi(plane)
        for name, (account, on) in ACCOUNTS.items():
            path = os.path.join(plane.dir, f"kubeconfig-of-{name}")
            plane.service_account_kubeconfig(f"{NAMESPACE}/{account}", path, node=on)
            plane.kubeconfigs[name] = path
            self.names[name] = f"system:serviceaccount:{NAMESPACE}:{account}"
        for name, role in USERS.items():
            plane.user_kubeconfig(name)
            self.names[name] = name
            if role:
                plane.kubectl("create", "rolebinding", name, "-n", "default",
                              f"--clusterrole={role}", f"--user={name}")
        for name in self.names:
            self.apis[name] = RawApi(plane, name)
        wait_until_agents_are_bound(plane, SETUP_TIMEOUT_S)
        wait_until("the roles to be aggregated", lambda: all(
            self.may(name, "get", "sandboxrun.dev", "sandboxruns", namespace="default")
            for name, role in USERS.items() if role), SETUP_TIMEOUT_S)

    def may(self, name, verb, group, resource, *, namespace=None):
        """What RBAC says, by a SubjectAccessReview; of the policies it knows nothing."""
        resource, _, subresource = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": resource}
        if subresource:
            attributes["subresource"] = subresource
        if namespace:
            attributes["namespace"] = namespace
        groups = ["system:authenticated"]
        if self.names[name].startswith("system:serviceaccount:"):
            groups += ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}"]
        answer = self["admin"].post(REVIEWS, {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": self.names[name], "groups": groups,
                     "resourceAttributes": attributes}})
        if not answer.accepted:
            raise AssertionError(answer.message)
        return answer.body["status"]["allowed"]
