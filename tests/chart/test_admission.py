# SPDX-License-Identifier: Apache-2.0
"""Who may create ToolCall runs and how far those reach at most: the shipped admission policies on
a real API server, asked as an ordinary user of a namespace."""

import json
import os
import shutil
import tempfile
import time
import unittest

from helpers.controlplane import ControlPlane
from helpers.manifests import MANIFESTS, find, helm_template, install_crds, parse
from helpers.rawapi import RawApi

LABEL = "sandboxrun.dev/toolcall"
CEILING = "sandboxrun.dev/egress-ceiling"
RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/{}/sandboxruns"


def run(name="probe", **spec):
    return {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
            "metadata": {"name": name}, "spec": {"code": "print(1)", **spec}}


def tool(*peers, **rule):
    return {"profile": "ToolCall", "egress": [{"to": list(peers), **rule}]}


def block(cidr, *excepted):
    return {"ipBlock": {"cidr": cidr, **({"except": list(excepted)} if excepted else {})}}


def fqdn(name):
    return {"fqdn": name}


MIXED = "203.0.113.0/24, 2001:db8::/32,api.example.com,*.example.org"

# (what, the namespace's ceiling, spec, fragments of the refusal or None for accepted)
CEILINGS = [
    ("Snippet has no network", MIXED, {}, None),
    ("no rules", MIXED, {"profile": "ToolCall"},
     ["spec.egress is required", "ceiling of namespace", MIXED]),
    ("rules that allow nothing", MIXED, {"profile": "ToolCall", "egress": []}, None),
    ("the range itself", MIXED, tool(block("203.0.113.0/24")), None),
    ("a part of the range", MIXED, tool(block("203.0.113.128/25", "203.0.113.192/26")), None),
    ("an address", MIXED, tool(block("203.0.113.255/32")), None),
    ("IPv6", MIXED, tool(block("2001:db8:1::/48")), None),
    ("a wider range", MIXED, tool(block("203.0.112.0/23")),
     ["spec.egress: 203.0.112.0/23 is outside the egress ceiling", MIXED]),
    ("a wider range with the rest excepted", MIXED,
     tool(block("203.0.112.0/23", "203.0.112.0/24")), ["203.0.112.0/23 is outside"]),
    ("the range beside", MIXED, tool(block("203.0.114.0/24")), ["203.0.114.0/24 is outside"]),
    ("wider IPv6", MIXED, tool(block("2001:db8::/31")), ["2001:db8::/31 is outside"]),
    ("the other family", MIXED, tool(block("::/0")), ["::/0 is outside"]),
    ("a name", MIXED, tool(fqdn("api.example.com")), None),
    ("another name", MIXED, tool(fqdn("www.example.com")), ["www.example.com is outside", MIXED]),
    ("a name below the name", MIXED, tool(fqdn("a.api.example.com")), ["is outside"]),
    ("a pattern below the name", MIXED, tool(fqdn("*.api.example.com")), ["is outside"]),
    ("a name of the pattern", MIXED, tool(fqdn("a.b.example.org")), None),
    ("the pattern itself", MIXED, tool(fqdn("*.example.org")), None),
    ("a narrower pattern", MIXED, tool(fqdn("*.a.example.org")), None),
    ("the bare domain", MIXED, tool(fqdn("example.org")), ["example.org is outside"]),
    ("a name that ends alike", MIXED, tool(fqdn("evilexample.org")), ["evilexample.org is out"]),
    ("a name that goes on", MIXED, tool(fqdn("a.example.org.evil.net")), ["evil.net is outside"]),
    ("every peer counts", MIXED,
     tool(fqdn("api.example.com"), block("9.9.9.9/32"), fqdn("x.example.net")),
     ["spec.egress: 9.9.9.9/32, x.example.net is outside"]),
    ("every rule counts", MIXED,
     {"profile": "ToolCall", "egress": [{"to": [fqdn("api.example.com")]},
                                        {"to": [fqdn("x.example.net")]}]},
     ["x.example.net is outside"]),
    ("a rule for every address", MIXED, {"profile": "ToolCall", "egress": [{}]},
     ["0.0.0.0/0, ::/0 is outside"]),
    ("a rule with an empty list of peers", MIXED, tool(), ["0.0.0.0/0, ::/0 is outside"]),
    ("a ceiling of every address", "0.0.0.0/0,::/0", {"profile": "ToolCall", "egress": [{}]},
     None),
    ("a ceiling of one family", "0.0.0.0/0", {"profile": "ToolCall", "egress": [{}]},
     ["spec.egress: ::/0 is outside"]),
    ("a ceiling of every address has no name", "0.0.0.0/0,::/0", tool(fqdn("api.example.com")),
     ["api.example.com is outside"]),
    ("ports don't matter", MIXED, tool(block("203.0.113.0/24"), ports=[{"port": 443}]), None),
    ("an empty ceiling", "", tool(block("203.0.113.0/24")), ["is malformed", "administrator"]),
    ("a ceiling with a trailing comma", "203.0.113.0/24,", tool(block("203.0.113.0/24")),
     ["is malformed", 'and not ""']),
    ("a ceiling with bits beyond the prefix", "203.0.113.1/24", tool(block("203.0.113.1/32")),
     ["is malformed", 'and not "203.0.113.1/24"']),
    ("a ceiling with an address", "203.0.113.1", tool(block("203.0.113.1/32")), ["is malformed"]),
    ("a ceiling of everything", "*", tool(fqdn("api.example.com")), ["is malformed"]),
    ("a ceiling in upper case", "API.example.com", tool(fqdn("api.example.com")),
     ["is malformed"]),
    ("a ceiling in JSON", '["203.0.113.0/24"]', tool(block("203.0.113.0/24")), ["is malformed"]),
    ("a ceiling with semicolons", "203.0.113.0/24;::/0", tool(block("203.0.113.0/24")),
     ["is malformed"]),
    ("a malformed ceiling and no rules", "everything", {"profile": "ToolCall"}, ["is malformed"]),
    ("a malformed ceiling is no matter of Snippet", "everything", {}, None),
    ("a long ceiling", ",".join(f"10.{i // 256}.{i % 256}.0/24" for i in range(400)),
     tool(block("10.1.143.0/24")), None),
    ("outside a long ceiling", ",".join(f"10.{i // 256}.{i % 256}.0/24" for i in range(400)),
     tool(block("10.1.144.0/24")), ["10.1.144.0/24 is outside", "10.0.0.0/24", "..."]),
    ("a malformed entry that is long", "a" * 5000, tool(block("10.1.144.0/24")),
     ["is malformed", "aaa..."]),
    ("the largest rules", ",".join(f"10.{i}.0.0/16" for i in range(64)),
     {"profile": "ToolCall", "egress": [
         {"to": [block(f"10.{i % 64}.0.0/24") for i in range(16)]} for _ in range(32)]}, None),
]


class TestAdmission(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="sandboxrun-admission-")
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.plane = ControlPlane(cls.directory)
        cls.plane.start()
        cls.addClassCleanup(cls.plane.stop)
        install_crds(cls.plane)
        cls.plane.kubectl("apply", "-f", os.path.join(MANIFESTS, "rbac/users.yaml"))
        cls.plane.kubectl("apply", "-f", os.path.join(MANIFESTS, "admission"))
        cls.plane.kubectl("create", "clusterrolebinding", "tenants",
                          "--clusterrole=sandboxrun-edit", "--user=tenant")
        cls.plane.user_kubeconfig("tenant")
        cls.admin = RawApi(cls.plane)
        cls.addClassCleanup(cls.admin.close)
        cls.tenant = RawApi(cls.plane, "tenant")
        cls.addClassCleanup(cls.tenant.close)
        cls.count = 0
        cls.make_namespace("plain")
        cls.wait_until_in_force()

    @classmethod
    def make_namespace(cls, name=None, labels=None, annotations=None):
        cls.count += 1
        name = name or f"team-{cls.count}"
        cls.admin.post("/api/v1/namespaces", {
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}})
        return name

    @classmethod
    def wait_until_in_force(cls):
        """A policy is in force a moment after it was made."""
        end = time.monotonic() + 30
        while "not allowed in namespace" not in cls.ask("plain", {"profile": "ToolCall"}).message:
            if time.monotonic() > end:
                raise AssertionError("the policies are not in force after 30 s")
            time.sleep(0.1)

    @classmethod
    def ask(cls, namespace, spec, user=None, **query):
        return (user or cls.tenant).post(RUNS.format(namespace), run(**spec),
                                         **{"dryRun": "All", "fieldValidation": "Strict", **query})

    def expect(self, answer, fragments, status=403):
        if fragments is None:
            self.assertTrue(answer.accepted, answer.message)
            return
        self.assertEqual(answer.status, status, answer.message or "accepted")
        for fragment in fragments:
            self.assertIn(fragment, answer.message)

    def test_only_in_labelled_namespaces(self):
        for labels, refused in (({}, True), ({LABEL: "allowed"}, False), ({LABEL: "denied"}, True),
                                ({LABEL: "Allowed"}, True), ({LABEL: ""}, True),
                                ({"toolcall": "allowed"}, True)):
            with self.subTest(labels):
                namespace = self.make_namespace(labels=labels)
                self.expect(self.ask(namespace, {"profile": "ToolCall"}), [
                    f"profile ToolCall is not allowed in namespace {namespace}: an administrator "
                    "has to label it sandboxrun.dev/toolcall=allowed"] if refused else None)
                self.expect(self.ask(namespace, {}), None)

    def test_an_administrator_is_asked_for_the_label_too(self):
        self.expect(self.ask("plain", {"profile": "ToolCall"}, self.admin), ["is not allowed"])

    def test_the_label_counts_at_creation(self):
        """Runs that are there go on; their status and metadata can be written."""
        namespace = self.make_namespace(labels={LABEL: "allowed"})
        path = RUNS.format(namespace)
        self.assertEqual(self.tenant.post(path, run("there", profile="ToolCall")).status, 201)
        self.admin.patch(f"/api/v1/namespaces/{namespace}",
                         {"metadata": {"labels": {LABEL: "denied"}}})
        end = time.monotonic() + 30
        while self.ask(namespace, {"profile": "ToolCall"}).accepted and time.monotonic() < end:
            time.sleep(0.05)
        self.expect(self.ask(namespace, {"profile": "ToolCall"}), ["is not allowed"])
        self.assertEqual(self.tenant.patch(f"{path}/there",
                                           {"metadata": {"labels": {"a": "b"}}}).status, 200)
        self.assertEqual(self.admin.patch(f"{path}/there/status", {
            "status": {"phase": "Failed", "reason": "QueueTimeout", "exitCode": -1}}).status, 200)

    def test_the_usual_roles_change_neither_label_nor_ceiling(self):
        namespace = self.make_namespace()
        for change in ({"labels": {LABEL: "allowed"}}, {"annotations": {CEILING: "0.0.0.0/0"}}):
            self.assertEqual(self.tenant.patch(f"/api/v1/namespaces/{namespace}",
                                               {"metadata": change}).status, 403)

    def test_ceiling(self):
        namespaces = {}
        for what, ceiling, spec, fragments in CEILINGS:
            with self.subTest(what):
                if ceiling not in namespaces:
                    namespaces[ceiling] = self.make_namespace(labels={LABEL: "allowed"},
                                                              annotations={CEILING: ceiling})
                self.expect(self.ask(namespaces[ceiling], spec), fragments)

    def test_no_ceiling(self):
        namespace = self.make_namespace(labels={LABEL: "allowed"})
        self.expect(self.ask(namespace, {"profile": "ToolCall"}), None)
        self.expect(self.ask(namespace, tool(block("9.9.9.9/32"))), None)

    def test_the_ceiling_does_not_replace_the_label(self):
        namespace = self.make_namespace(annotations={CEILING: MIXED})
        self.expect(self.ask(namespace, tool(block("203.0.113.0/24"))), ["is not allowed in"])

    def test_what_kubectl_says(self):
        """One line, in which the reason comes last."""
        namespace = self.make_namespace(labels={LABEL: "allowed"}, annotations={CEILING: MIXED})
        for where, spec, words in (
                ("plain", {"profile": "ToolCall"},
                 "profile ToolCall is not allowed in namespace plain: an administrator has to "
                 "label it sandboxrun.dev/toolcall=allowed"),
                (namespace, tool(fqdn("x.example.net")),
                 "spec.egress: x.example.net is outside the egress ceiling of namespace "
                 f"{namespace}, {MIXED}")):
            for dry_run in ("none", "server"):
                done = self.plane.kubectl("create", "-n", where, "-f", "-", f"--dry-run={dry_run}",
                                          user="tenant", input=json.dumps(run(**spec)),
                                          check=False)
                self.assertNotEqual(done.returncode, 0)
                lines = done.stderr.strip().splitlines()
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertTrue(lines[0].endswith(f"denied request: {words}"), done.stderr)

    def test_the_chart_s_default_can_be_changed(self):
        objects = parse(helm_template("--set", "toolCall.unlabelledNamespaces=allowed"))
        policy = find(objects, "ValidatingAdmissionPolicy", "sandboxrun-toolcall")
        policy["metadata"]["name"] = "other-default"
        binding = find(objects, "ValidatingAdmissionPolicyBinding", "sandboxrun-toolcall")
        binding["metadata"]["name"] = binding["spec"]["policyName"] = "other-default"
        base = "/apis/admissionregistration.k8s.io/v1"
        mine = f"{base}/validatingadmissionpolicybindings/sandboxrun-toolcall"
        self.assertEqual(self.admin.post(f"{base}/validatingadmissionpolicies", policy).status, 201)
        self.assertEqual(
            self.admin.post(f"{base}/validatingadmissionpolicybindings", binding).status, 201)
        self.addCleanup(self.wait_until_in_force)
        self.addCleanup(self.plane.kubectl, "apply", "-f", os.path.join(MANIFESTS, "admission"))
        self.addCleanup(self.admin.delete,
                        f"{base}/validatingadmissionpolicybindings/other-default")
        self.admin.delete(mine)
        end = time.monotonic() + 30
        while not self.ask("plain", {"profile": "ToolCall"}).accepted:
            self.assertLess(time.monotonic(), end, "unlabelled namespaces are not allowed")
            time.sleep(0.05)
        namespace = self.make_namespace(labels={LABEL: "denied"})
        self.expect(self.ask(namespace, {"profile": "ToolCall"}), ["is not allowed in namespace"])


if __name__ == "__main__":
    unittest.main()
