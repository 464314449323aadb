# SPDX-License-Identifier: Apache-2.0
"""Manifests and chart: the same objects, as small in rights as promised, taken by a real API
server, installed, upgraded and removed by a real helm."""

import copy
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from helpers.controlplane import ROOT, ControlPlane
from helpers.manifests import (CHART, MANIFESTS, NAMESPACE, containers, find, helm_lint,
                               helm_refusal, helm_template, kustomize, parse, pods)

BIN = os.environ.get("SANDBOXRUN_BIN", os.path.join(ROOT, "build/release/bin"))
CRDS = ("sandboxruns.yaml", "sandboxnodes.yaml")
GROUP = "sandboxrun.dev"

# Every right of every role, and no other: (group, resource, and names where they are) -> verbs.
RIGHTS = {
    ("ClusterRole", "sandboxrun-controller"): {
        (GROUP, "sandboxruns"): {"get", "list", "watch", "delete"},
        (GROUP, "sandboxruns/status"): {"patch"},
        (GROUP, "sandboxnodes"): {"get", "list", "watch"},
        ("", "nodes"): {"list", "watch"},
        ("events.k8s.io", "events"): {"create", "patch"},
    },
    ("ClusterRole", "sandboxrun-agent"): {
        (GROUP, "sandboxruns"): {"get", "list", "watch"},
        (GROUP, "sandboxruns/status"): {"patch"},
        (GROUP, "sandboxnodes"): {"get", "create"},
        (GROUP, "sandboxnodes/status"): {"patch"},
        ("authentication.k8s.io", "tokenreviews"): {"create"},
        ("authorization.k8s.io", "subjectaccessreviews"): {"create"},
        ("events.k8s.io", "events"): {"create", "patch"},
    },
    ("Role", "sandboxrun-controller"): {
        ("coordination.k8s.io", "leases"): {"get", "list", "watch", "create"},
        ("coordination.k8s.io", "leases", "sandboxrun-controller"): {"patch"}},
    ("Role", "sandboxrun-agent"): {
        ("coordination.k8s.io", "leases"): {"get", "create", "patch"}},
    ("ClusterRole", "sandboxrun-view"): {
        (GROUP, "sandboxruns"): {"get", "list", "watch"},
        (GROUP, "sandboxruns/log"): {"get"}},
    ("ClusterRole", "sandboxrun-node-view"): {(GROUP, "sandboxnodes"): {"get", "list", "watch"}},
    ("ClusterRole", "sandboxrun-edit"): {
        (GROUP, "sandboxruns"): {"create", "update", "patch", "delete", "deletecollection"}},
}

# (who, verb, RESOURCE[/SUBRESOURCE] or RESOURCE:NAME, namespace or None for the whole cluster, may
# they)
QUESTIONS = [
    ("controller", "list", "sandboxruns.sandboxrun.dev", None, True),
    ("controller", "patch", "sandboxruns.sandboxrun.dev/status", None, True),
    ("controller", "delete", "sandboxruns.sandboxrun.dev", None, True),
    ("controller", "create", "sandboxruns.sandboxrun.dev", None, False),
    ("controller", "patch", "sandboxruns.sandboxrun.dev", None, False),
    ("controller", "patch", "sandboxnodes.sandboxrun.dev", None, False),
    ("controller", "create", "leases.coordination.k8s.io", NAMESPACE, True),
    ("controller", "create", "leases.coordination.k8s.io", None, False),
    ("controller", "patch", "leases.coordination.k8s.io", NAMESPACE, False),
    ("controller", "patch", "leases.coordination.k8s.io:node-a", NAMESPACE, False),
    ("controller", "patch", "leases.coordination.k8s.io:sandboxrun-controller", NAMESPACE, True),
    ("controller", "delete", "leases.coordination.k8s.io:sandboxrun-controller", NAMESPACE, False),
    ("controller", "watch", "leases.coordination.k8s.io", NAMESPACE, True),
    ("controller", "watch", "leases.coordination.k8s.io", None, False),
    ("controller", "list", "pods", NAMESPACE, False),
    ("controller", "get", "secrets", NAMESPACE, False),
    ("controller", "get", "configmaps", NAMESPACE, False),
    ("controller", "patch", "nodes", None, False),
    ("agent", "watch", "sandboxruns.sandboxrun.dev", None, True),
    ("agent", "patch", "sandboxruns.sandboxrun.dev/status", None, True),
    ("agent", "create", "sandboxnodes.sandboxrun.dev", None, True),
    ("agent", "delete", "sandboxnodes.sandboxrun.dev", None, False),
    ("agent", "delete", "sandboxruns.sandboxrun.dev", None, False),
    ("agent", "create", "sandboxruns.sandboxrun.dev", None, False),
    ("agent", "patch", "sandboxruns.sandboxrun.dev", None, False),
    ("agent", "patch", "sandboxnodes.sandboxrun.dev/status", None, True),
    ("agent", "list", "sandboxnodes.sandboxrun.dev", None, False),
    ("agent", "patch", "leases.coordination.k8s.io", NAMESPACE, True),
    ("agent", "create", "leases.coordination.k8s.io", NAMESPACE, True),
    ("agent", "list", "leases.coordination.k8s.io", NAMESPACE, False),
    ("agent", "delete", "leases.coordination.k8s.io", NAMESPACE, False),
    ("agent", "patch", "leases.coordination.k8s.io", "kube-node-lease", False),
    ("agent", "get", "secrets", "default", False),
    ("agent", "create", "events.events.k8s.io", "default", True),
    ("agent", "patch", "events.events.k8s.io", "default", True),
    ("controller", "create", "events.events.k8s.io", "default", True),
    ("controller", "patch", "events.events.k8s.io", "default", True),
    ("controller", "list", "events.events.k8s.io", "default", False),
    ("agent", "list", "events.events.k8s.io", "default", False),
    ("agent", "create", "events", "default", False),
    ("agent", "list", "pods", None, False),
    ("agent", "get", "configmaps", NAMESPACE, False),
    ("agent", "get", "nodes", None, False),
    ("agent", "create", "pods", NAMESPACE, False),
    ("agent", "create", "serviceaccounts/token", NAMESPACE, False),
    ("agent", "create", "tokenreviews.authentication.k8s.io", None, True),
    ("agent", "create", "subjectaccessreviews.authorization.k8s.io", None, True),
    ("agent", "get", "sandboxruns.sandboxrun.dev/log", "default", False),
]

# Values that the schema refuses, and what it names.
WRONG_VALUES = [
    (["--set", "nodeAgent.jailer.memroy=4Gi"], "memroy"),
    (["--set", "unknown=1"], "unknown"),
    (["--set", "nodeAgent.jailer.memory=4GB"], "memory"),
    (["--set", "nodeAgent.jailer.maxRuns=0"], "maxRuns"),
    (["--set", "nodeAgent.resolver.upstreams={dns.example.org}"], "upstreams"),
    (["--set", "nodeAgent.resolver.upstream={1.2.3.4}"], "upstream"),
    (["--set", "nodeAgent.jailer.maxRuns=many"], "maxRuns"),
    (["--set", "nodeAgent.jailer.slots=129"], "slots"),
    (["--set", "nodeAgent.jailer.poolMax=513"], "poolMax"),
    (["--set", "nodeAgent.jailer.slotRange=198.19.192.0/26"], "slotRange"),
    (["--set", "nodeAgent.jailer.slotRange6=fd00::/64"], "slotRange6"),
    (["--set", "toolCall.forbiddenRanges={203.0.113.7}"], "forbiddenRanges"),
    (["--set", "nodeAgent.jailer.uidBase=0"], "uidBase"),
    (["--set", "nodeAgent.stateDir=relative/path"], "stateDir"),
    (["--set", "nodeAgent.stateDir=/var/../etc"], "stateDir"),
    (["--set", "nodeAgent.stateDir=/"], "stateDir"),
    (["--set", "nodeAgent.jailer.maxRuns=65,nodeAgent.jailer.uidCount=8319"], "8320 in all"),
    (["--set", "controller.logLevel=loud"], "logLevel"),
    (["--set", "controller.ttlSecondsAfterFinished=-1"], "ttlSecondsAfterFinished"),
    (["--set", "controller.replicas=0"], "replicas"),
    (["--set", "controller.leaderElection.leaseDuration=15"], "leaseDuration"),
    (["--set", "controller.leaderElection.enabled=false"], "enabled"),
    (["--set", "controller.finished.maxRuns=0"], "maxRuns"),
    (["--set", "controller.finished.maxBytes=256MB"], "maxBytes"),
    (["--set", "controller.perNamespace.maxRuns=-1"], "maxRuns"),
    (["--set", "controller.perNamespace.maxMemory=lots"], "maxMemory"),
    (["--set", "controller.perNamespace.maxQueue=5"], "maxQueue"),
    (["--set", "image.pullPolicy=Sometimes"], "pullPolicy"),
    (["--set", "image.tag=a b"], "tag"),
    (["--set", "crds.install=perhaps"], "install"),
    (["--set", "flowControl.install=perhaps"], "install"),
    (["--set", "flowControl.shares=5"], "shares"),
    (["--set", "nodeAgent.output.port=8081"], "port"),
    (["--set", "nodeAgent.output.retain=soon"], "retain"),
    (["--set", "nodeAgent.output.retainBytes=1GB"], "retainBytes"),
    (["--set", "toolCall.unlabelledNamespaces=perhaps"], "unlabelledNamespaces"),
    (["--set", "nodeAgent.tolerations[0].operater=Exists"], "operater"),
    (["--set", "nodeAgent.maxUnavailable=0%"], "maxUnavailable"),
]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def comparable(objects):
    """Without what helm adds, and without the namespace's object, which helm doesn't make."""
    result = {}
    for item in copy.deepcopy(objects):
        if item["kind"] == "Namespace":
            continue
        labels = item["metadata"].get("labels", {})
        for label in ("app.kubernetes.io/instance", "app.kubernetes.io/managed-by",
                      "app.kubernetes.io/part-of", "app.kubernetes.io/version", "helm.sh/chart"):
            labels.pop(label, None)
        for _, pod in pods([item]):
            for container in containers(pod).values():
                container.pop("imagePullPolicy", None)
        result[item["kind"], item["metadata"]["name"]] = item
    return result


class TestRender(unittest.TestCase):
    def test_lint(self):
        done = helm_lint()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("[WARNING]", done.stdout)

    def test_the_crds_are_the_same_files(self):
        for name in CRDS:
            self.assertEqual(read(os.path.join(CHART, "files/crd", name)),
                             read(os.path.join(MANIFESTS, "crd", name)))
        for directory in (os.path.join(CHART, "files/crd"), os.path.join(MANIFESTS, "crd")):
            self.assertEqual(sorted(os.listdir(directory)), sorted(CRDS))

    def test_chart_and_manifests_are_the_same_objects(self):
        plain, chart = comparable(parse(kustomize())), comparable(parse(helm_template()))
        self.assertEqual(set(plain), set(chart))
        for key in plain:
            with self.subTest(key):
                self.assertEqual(plain[key], chart[key])

    def test_versions_are_the_project_s(self):
        version = re.search(r"project\(sandboxrun VERSION ([0-9.]+)",
                            read(os.path.join(ROOT, "CMakeLists.txt"))).group(1)
        chart = read(os.path.join(CHART, "Chart.yaml"))
        self.assertEqual(re.findall(r"^(?:appVersion|version): (\S+)$", chart, re.M), [version] * 2)
        for _, pod in pods(parse(kustomize())):
            for container in containers(pod).values():
                self.assertTrue(container["image"].endswith(":" + version), container["image"])

    def test_crds_bound_what_the_programs_bound(self):
        limits = dict(re.findall(r"^#define (\w+) +\(?(\d+)",
                                 read(os.path.join(ROOT, "common/api/limits.h")), re.M))
        schema = find(parse(read(os.path.join(MANIFESTS, "crd/sandboxruns.yaml"))),
                      "CustomResourceDefinition", "sandboxruns.sandboxrun.dev")
        spec = schema["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        fields = spec["properties"]
        for field, key, macro in (
                ("args", "maxItems", "MAX_ARGS"), ("env", "maxItems", "MAX_ENV"),
                ("egress", "maxItems", "MAX_EGRESS_RULES"),
                ("nodeSelector", "maxProperties", "MAX_NODE_SELECTOR"),
                ("runtime", "maxLength", "MAX_RUNTIME_NAME"),
                ("timeoutSeconds", "minimum", "MIN_TIMEOUT_SECONDS"),
                ("queueTimeoutSeconds", "maximum", "MAX_QUEUE_TIMEOUT"),
                ("queueTimeoutSeconds", "default", "DEFAULT_QUEUE_TIMEOUT")):
            with self.subTest(field):
                self.assertEqual(fields[field][key], int(limits[macro]))
        self.assertEqual(limits["MAX_TTL_SECONDS"], "30")
        self.assertEqual(fields["ttlSecondsAfterFinished"]["maximum"], 30 * 24 * 3600)

    def test_wrong_values_are_refused_by_name(self):
        for args, name in WRONG_VALUES:
            with self.subTest(args[1]):
                self.assertIn(name, helm_refusal(*args) or "it was taken")

    def test_values_arrive(self):
        objects = parse(helm_template(
            "--set", "image.registry=registry.example.com/team,image.tag=v9",
            "--set", "image.pullSecrets[0].name=pull",
            "--set", "nodeAgent.jailer.memory=8Gi,nodeAgent.jailer.cpu=3",
            "--set", "nodeAgent.jailer.uidBase=3000000000,nodeAgent.jailer.maxRuns=7",
            "--set", "nodeAgent.resolver.upstreams={192.0.2.53,[2001:db8::53]:5353}",
            "--set", "toolCall.forbiddenRanges={203.0.114.0/24,2600:1f00::/24}",
            "--set", "nodeAgent.jailer.poolMin=3,nodeAgent.jailer.poolMax=9",
            "--set", "nodeAgent.jailer.slots=5,nodeAgent.jailer.slotRange=10.9.0.0/20",
            "--set", "nodeAgent.nodeSelector.pool=sandboxes",
            "--set", "nodeAgent.tolerations[0].operator=Exists",
            "--set", "nodeAgent.output.port=9443,nodeAgent.output.retain=90s",
            "--set", "nodeAgent.output.certificateSecret=output-tls",
            "--set", "nodeAgent.stateDir=/srv/runs,controller.ttlSecondsAfterFinished=30",
            "--set", "controller.priorityClassName=high,crds.install=false",
            "--set", "controller.replicas=3,controller.leaderElection.leaseDuration=60s",
            namespace="elsewhere"))
        self.assertNotIn("CustomResourceDefinition", {item["kind"] for item in objects})
        for item in objects:
            self.assertEqual(item["metadata"].get("namespace", "elsewhere"), "elsewhere")
            for subject in item.get("subjects", []):
                self.assertEqual(subject["namespace"], "elsewhere")
            for rule in item["spec"]["rules"] if item["kind"] == "FlowSchema" else []:
                for subject in rule["subjects"]:
                    self.assertEqual(subject["serviceAccount"]["namespace"], "elsewhere")
        heartbeats = find(objects, "FlowSchema", "sandboxrun-heartbeats")["spec"]["rules"][0]
        self.assertEqual(heartbeats["resourceRules"][0]["namespaces"], ["elsewhere"])
        pod = find(objects, "DaemonSet", "sandboxrun-node-agent")["spec"]["template"]["spec"]
        jailer = containers(pod)["jailer"]
        self.assertEqual(jailer["image"], "registry.example.com/team/sandboxrun/node-agent:v9")
        self.assertEqual(jailer["resources"]["limits"], {"cpu": "3", "memory": "8Gi"})
        for argument in ("--uid-base=3000000000", "--max-runs=7", "--spool-dir=/srv/runs/spool",
                         "--forbid=203.0.114.0/24", "--forbid=2600:1f00::/24", "--slots=5",
                         "--pool-min=3", "--pool-max=9", "--slot-range=10.9.0.0/20"):
            self.assertIn(argument, jailer["args"])
        resolver = containers(pod)["resolver"]
        self.assertEqual(resolver["image"], jailer["image"])
        for argument in ("--upstream=192.0.2.53", "--upstream=[2001:db8::53]:5353"):
            self.assertIn(argument, resolver["args"])
        self.assertEqual(pod["nodeSelector"], {"kubernetes.io/os": "linux", "pool": "sandboxes"})
        agent = containers(pod)["agent"]
        for argument in ("--output-address=:9443", "--retain-output=90s",
                         "--output-cert=/etc/sandboxrun/output/tls.crt"):
            self.assertIn(argument, agent["args"])
        self.assertIn(9443, [port["containerPort"] for port in agent["ports"]])
        mounts = [mount["mountPath"] for mount in agent["volumeMounts"]]
        self.assertIn("/etc/sandboxrun/output", mounts)
        self.assertNotIn("/etc/sandboxrun/output",
                         [mount["mountPath"] for mount in jailer["volumeMounts"]])
        self.assertEqual(pod["tolerations"], [{"operator": "Exists"}])
        self.assertEqual(pod["imagePullSecrets"], [{"name": "pull"}])
        self.assertIn({"name": "state", "hostPath": {"path": "/srv/runs",
                                                     "type": "DirectoryOrCreate"}}, pod["volumes"])
        spec = find(objects, "Deployment", "sandboxrun-controller")["spec"]
        self.assertEqual(spec["replicas"], 3)
        pod = spec["template"]["spec"]
        self.assertIn("--leader-elect-lease-duration=60s", pod["containers"][0]["args"])
        self.assertEqual(pod["priorityClassName"], "high")
        self.assertIn("--ttl-seconds-after-finished=30", pod["containers"][0]["args"])
        self.assertFalse([a for a in pod["containers"][0]["args"] if "max" in a and
                          "-per-namespace" in a and "finished" not in a])

    def test_limits_of_namespaces_arrive(self):
        pod = find(parse(helm_template(
            "--set", "controller.finished.maxRuns=50,controller.finished.maxRunsPerNamespace=5",
            "--set", "controller.finished.maxBytes=8Mi,controller.perNamespace.maxRuns=7",
            "--set", "controller.perNamespace.maxMemory=16Gi,controller.perNamespace.maxCpu=8500m",
            "--set", "controller.perNamespace.maxQueued=200")), "Deployment",
            "sandboxrun-controller")["spec"]["template"]["spec"]
        for argument in ("--max-finished-runs=50", "--max-finished-runs-per-namespace=5",
                         "--max-finished-bytes=8Mi", "--max-runs-per-namespace=7",
                         "--max-memory-per-namespace=16Gi", "--max-cpu-per-namespace=8500m",
                         "--max-queued-per-namespace=200"):
            self.assertIn(argument, pod["containers"][0]["args"])

    def test_flow_control_can_be_left_out(self):
        kinds = {"FlowSchema", "PriorityLevelConfiguration"}
        self.assertLess(kinds, {item["kind"] for item in parse(helm_template())})
        self.assertFalse(kinds & {item["kind"] for item in parse(
            helm_template("--set", "flowControl.install=false"))})

    def test_every_policy_is_bound_to_refuse_and_fails_closed(self):
        objects = parse(kustomize())
        policies = {item["metadata"]["name"]: item["spec"] for item in objects
                    if item["kind"] == "ValidatingAdmissionPolicy"}
        bindings = {item["metadata"]["name"]: item["spec"] for item in objects
                    if item["kind"] == "ValidatingAdmissionPolicyBinding"}
        self.assertEqual(set(policies), set(bindings))
        for name, spec in policies.items():
            self.assertEqual(spec["failurePolicy"], "Fail")
            self.assertEqual(bindings[name], {"policyName": name, "validationActions": ["Deny"]})

    def test_an_output_port_of_0_is_no_port(self):
        pod = find(parse(helm_template("--set", "nodeAgent.output.port=0")), "DaemonSet",
                   "sandboxrun-node-agent")["spec"]["template"]["spec"]
        agent = containers(pod)["agent"]
        self.assertIn("--output-address=", agent["args"])
        self.assertEqual([port["name"] for port in agent["ports"]], ["health"])


    def test_controllers_avoid_each_other_unless_told_where_to_be(self):
        def affinity(*args):
            deployment = find(parse(helm_template(*args)), "Deployment", "sandboxrun-controller")
            return deployment["spec"]["template"]["spec"]["affinity"]
        self.assertEqual(set(affinity()), {"podAntiAffinity"})
        own = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
        self.assertEqual(affinity("--set-json", f"controller.affinity={json.dumps(own)}"), own)


class TestRights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.objects = parse(kustomize())

    def test_every_right_is_listed_here(self):
        found = {}
        for item in self.objects:
            if item["kind"] not in ("Role", "ClusterRole"):
                continue
            rights = found.setdefault((item["kind"], item["metadata"]["name"]), {})
            for rule in item["rules"]:
                self.assertEqual(set(rule) - {"resourceNames"},
                                 {"apiGroups", "resources", "verbs"})
                names = tuple(rule.get("resourceNames", ()))
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        rights.setdefault((group, resource) + names, set()).update(rule["verbs"])
        self.assertEqual(found, RIGHTS)

    def test_every_binding_joins_a_role_to_the_account_of_its_name(self):
        bindings = [item for item in self.objects if item["kind"].endswith("RoleBinding")]
        self.assertEqual(sorted(item["kind"] for item in bindings),
                         ["ClusterRoleBinding"] * 2 + ["RoleBinding"] * 2)
        for item in bindings:
            self.assertEqual(item["roleRef"]["name"], item["metadata"]["name"])
            self.assertEqual(f"{item['roleRef']['kind']}Binding", item["kind"])
            self.assertEqual(item["subjects"], [
                {"kind": "ServiceAccount", "name": item["metadata"]["name"],
                 "namespace": NAMESPACE}])

    def test_aggregation(self):
        for role, into in (("sandboxrun-view", {"view", "edit", "admin"}),
                           ("sandboxrun-edit", {"edit", "admin"})):
            labels = find(self.objects, "ClusterRole", role)["metadata"]["labels"]
            self.assertEqual({name.rpartition("aggregate-to-")[2] for name in labels
                              if name.startswith("rbac.")}, into)


class TestPods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        objects = parse(kustomize())
        cls.namespace = find(objects, "Namespace", NAMESPACE)
        cls.controller = find(objects, "Deployment",
                              "sandboxrun-controller")["spec"]["template"]["spec"]
        cls.node = find(objects, "DaemonSet", "sandboxrun-node-agent")["spec"]["template"]["spec"]
        cls.all = list(pods(objects))

    def test_the_namespace_admits_the_jailer(self):
        self.assertEqual(
            self.namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"],
            "privileged")

    def test_everybody_but_the_jailer_is_nobody(self):
        for pod, name, uid in ((self.controller, "controller", 65532), (self.node, "agent", 65532),
                               (self.node, "resolver", 65533)):
            container = containers(pod)[name]
            context = {**pod.get("securityContext", {}), **container["securityContext"]}
            self.assertEqual((context["runAsUser"], context["runAsGroup"]), (uid, uid))
            self.assertIs(context["runAsNonRoot"], True)
            self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
            self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"})

    def test_every_container_is_confined(self):
        for _, pod in self.all:
            for name, container in containers(pod).items():
                with self.subTest(name):
                    context = container["securityContext"]
                    self.assertIs(context["allowPrivilegeEscalation"], False)
                    self.assertIs(context["readOnlyRootFilesystem"], True)
                    self.assertIsNot(context.get("privileged", False), True)
                    self.assertEqual(context["capabilities"]["drop"], ["ALL"])
                    for bound in ("requests", "limits"):
                        self.assertIn("memory", container["resources"][bound])

    def test_nobody_shares_the_host_s_namespaces(self):
        for _, pod in self.all:
            for field in ("hostPID", "hostIPC", "hostNetwork", "shareProcessNamespace"):
                self.assertIsNot(pod.get(field, False), True)

    def test_the_token_is_in_the_agent_alone(self):
        self.assertIs(self.node["automountServiceAccountToken"], False)
        tokens = {volume["name"] for volume in self.node["volumes"]
                  if "serviceAccountToken" in str(volume)}
        self.assertEqual(tokens, {"token"})
        holders = {name for name, container in containers(self.node).items()
                   for mount in container["volumeMounts"] if mount["name"] in tokens}
        self.assertEqual(holders, {"agent"})

    def test_the_jailer_has_the_capabilities_that_it_asks_for(self):
        source = read(os.path.join(ROOT, "node-agent/jailer/caps.c"))
        needed = set(re.findall(r'\{CAP_\w+, "CAP_(\w+)", "[^"]+",\s+false[,}]', source))
        self.assertGreater(len(needed), 5)
        added = containers(self.node)["jailer"]["securityContext"]["capabilities"]["add"]
        self.assertEqual(sorted(added), sorted(needed))

    def test_the_jailer_outlives_the_agent(self):
        jailer = self.node["initContainers"][0]
        self.assertEqual((jailer["name"], jailer["restartPolicy"]), ("jailer", "Always"))

    def test_the_grace_period_is_as_long_as_what_has_to_end_in_it(self):
        def figure(path, pattern):
            found = re.findall(pattern, read(os.path.join(ROOT, path)))
            self.assertTrue(found, pattern)
            return max(map(int, found))

        longest = figure("common/api/profile.c", r"timeout_max_seconds = (\d+)")
        agent = "node-agent/agent/agent_limits.h"
        jailer = "node-agent/jailer/limits.h"
        after_ms = (figure(agent, r"FLUSH_WITHIN_MS +(\d+)u")
                    + figure(jailer, r"SHUTDOWN_WITHIN_MS +(\d+)u")
                    + figure(jailer, r"NET_STOP_WITHIN_MS +(\d+)"))
        self.assertGreaterEqual(longest, 120)
        self.assertGreater(self.node["terminationGracePeriodSeconds"], longest + after_ms / 1000)

    def test_the_resolver_outlives_the_agent(self):
        """Runs that end with the Pod look up names to their end; the jailer comes before it."""
        names = [(entry["name"], entry["restartPolicy"]) for entry in self.node["initContainers"]]
        self.assertEqual(names, [("jailer", "Always"), ("resolver", "Always")])

    def test_the_jailer_knows_the_resolver_by_its_uid(self):
        uid = containers(self.node)["resolver"]["securityContext"]["runAsUser"]
        self.assertIn(f"--resolver-uid={uid}", containers(self.node)["jailer"]["args"])

    def test_the_jailer_s_requests_are_its_limits(self):
        resources = containers(self.node)["jailer"]["resources"]
        self.assertEqual(resources["requests"], resources["limits"])
        self.assertEqual(set(resources["limits"]), {"cpu", "memory"})

    def test_what_the_jailer_needs_of_the_node(self):
        context = containers(self.node)["jailer"]["securityContext"]
        self.assertEqual(context["runAsUser"], 0)
        self.assertEqual(context["appArmorProfile"], {"type": "Unconfined"})
        self.assertEqual(context["seccompProfile"], {"type": "Unconfined"})

    def test_no_probe_is_by_exec(self):
        probes = 0
        for _, pod in self.all:
            for container in containers(pod).values():
                for kind in ("livenessProbe", "readinessProbe", "startupProbe"):
                    if kind in container:
                        probes += 1
                        self.assertIn(container[kind]["httpGet"]["port"],
                                      ("health", "resolver-health"))
        self.assertEqual(probes, 5)

    def test_the_state_is_the_one_path_of_the_host(self):
        paths = [volume["hostPath"]["path"] for _, pod in self.all
                 for volume in pod.get("volumes", []) if "hostPath" in volume]
        self.assertEqual(paths, ["/var/lib/sandboxrun"])


class TestDockerfiles(unittest.TestCase):
    IMAGES = {"sandboxrun/controller": "controller/Dockerfile",
              "sandboxrun/node-agent": "node-agent/Dockerfile"}

    def programs(self):
        """(program, text of the Dockerfile of its image) of everything that is started."""
        for _, pod in pods(parse(kustomize())):
            for container in containers(pod).values():
                path = self.IMAGES[container["image"].rpartition(":")[0]]
                yield os.path.basename(container["command"][0]), read(os.path.join(ROOT, path))

    def test_images_hold_the_programs_that_the_manifests_start(self):
        for program, text in self.programs():
            self.assertRegex(text, rf"--target .*\b{program}\b")
            self.assertRegex(text, r"(?m)^USER 65532:65532$")

    def test_images_hold_the_libraries_that_the_programs_need(self):
        """Packages as this machine's dpkg knows them; only names that end in t64 differ between
        Debian 12 and 13."""
        for program, text in self.programs():
            with self.subTest(program):
                path = os.path.join(BIN, program)
                if not os.path.exists(path):
                    self.skipTest(f"{path} is not built")
                final = text.rpartition("\nFROM ")[2]
                for package in needed_packages(path) - {"libc6"}:
                    self.assertRegex(final, rf"\b{re.escape(package)}\b")


def needed_packages(program):
    dynamic = subprocess.run(["readelf", "-dW", program], text=True, capture_output=True,
                             check=True).stdout
    cache = subprocess.run(["/sbin/ldconfig", "-p"], text=True, capture_output=True,
                           check=True).stdout
    packages = set()
    for library in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
        path = re.search(rf"^\s{re.escape(library)} \(.*=> (\S+)$", cache, re.M).group(1)
        for candidate in {path, os.path.realpath(path), "/usr" + path}:
            owner = subprocess.run(["dpkg-query", "-S", candidate], text=True, capture_output=True)
            if owner.returncode == 0:
                packages.add(owner.stdout.partition(":")[0].removesuffix("t64"))
                break
        else:
            raise AssertionError(f"no package has {path}")
    return packages


class TestServer(unittest.TestCase):
    """Against a real API server."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="sandboxrun-chart-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.plane = ControlPlane(cls.dir)
        cls.plane.start()
        cls.addClassCleanup(cls.plane.stop)

    def dry_run(self, text):
        return self.plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-",
                                  input=text).stdout

    def test_1_strict_dry_run(self):
        self.plane.kubectl("create", "namespace", NAMESPACE)
        for text in (kustomize(), helm_template()):
            out = self.dry_run(text)
            self.assertEqual(out.count("(server dry run)"), len(parse(text)))
        self.assertNotIn("Warning", self.plane.kubectl(
            "apply", "--dry-run=server", "--validate=strict", "-f", "-",
            input=helm_template("--set", "crds.install=false")).stderr)

    def test_2_helm_installs_upgrades_and_uninstalls(self):
        helm = self.plane.helm
        notes = helm("install", "sandboxrun", CHART, "-n", NAMESPACE).stdout
        self.assertIn("kubectl get sandboxnodes", notes)
        helm("upgrade", "sandboxrun", CHART, "-n", NAMESPACE, "--set",
             "controller.logLevel=debug,nodeAgent.jailer.maxRuns=5")
        pod = self.plane.get("daemonset", "sandboxrun-node-agent", "-n",
                             NAMESPACE)["spec"]["template"]["spec"]
        self.assertIn("--max-runs=5", containers(pod)["jailer"]["args"])
        self.plane.kubectl("create", "-f", os.path.join(ROOT, "examples/hello.yaml"))
        helm("uninstall", "sandboxrun", "-n", NAMESPACE)
        self.assertEqual(self.plane.get("deployment,daemonset", "-n", NAMESPACE)["items"], [])
        # Neither the CRDs nor anybody's runs are gone.
        self.plane.kubectl("get", "sandboxrun", "hello")
        self.plane.kubectl("delete", "sandboxrun", "hello")

    def test_3_kubectl_installs(self):
        self.plane.kubectl("apply", "-k", MANIFESTS)
        budget = self.plane.get("pdb", "sandboxrun-controller", "-n", NAMESPACE)
        again = self.plane.kubectl("apply", "-k", MANIFESTS).stdout
        self.assertNotIn("created", again)
        # kubectl always sends the selector of a budget, which changes nothing.
        self.assertLessEqual(set(re.findall(r"(\S+) configured", again)),
                             {"poddisruptionbudget.policy/sandboxrun-controller"})
        self.assertEqual(self.plane.get("pdb", "sandboxrun-controller", "-n", NAMESPACE), budget)

    def test_4_rights_as_the_server_sees_them(self):
        for who, verb, resource, namespace, allowed in QUESTIONS:
            with self.subTest(f"{who} {verb} {resource}"):
                account = f"system:serviceaccount:{NAMESPACE}:sandboxrun-{who}"
                resource, _, subresource = resource.partition("/")
                resource = resource.replace(":", "/")
                args = ["auth", "can-i", verb, resource, f"--as={account}"]
                args += [f"--subresource={subresource}"] if subresource else []
                args += ["-n", namespace] if namespace else ["--all-namespaces"]
                answer = self.plane.kubectl(*args, check=False)
                self.assertEqual(answer.stdout.strip(), "yes" if allowed else "no", answer.stderr)

    def test_5_an_ordinary_user_has_runs_and_no_results(self):
        def can(*args):
            return self.plane.kubectl("auth", "can-i", *args, user="alice",
                                      check=False).stdout.strip()
        for verb in ("create", "get", "list", "watch", "delete"):
            self.assertEqual(can(verb, "sandboxruns.sandboxrun.dev"), "yes", verb)
        for verb in ("patch", "update"):
            self.assertEqual(can(verb, "sandboxruns.sandboxrun.dev", "--subresource=status"), "no")
        self.assertEqual(can("create", "sandboxruns.sandboxrun.dev", "-n", NAMESPACE), "no")


if __name__ == "__main__":
    unittest.main()
