# SPDX-License-Identifier: Apache-2.0
"""The control plane itself: what the tests of the cluster layer rely on.

Run it alone with `python3 tests/controlplane/test_controlplane.py`.
"""

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from helpers.controlplane import BIN, ControlPlane, ControlPlaneError, Etcd  # noqa: E402
from helpers.wait import wait_until  # noqa: E402

NAMESPACE = "sandboxrun-system"
NODE_CLAIM = "authentication.kubernetes.io/node-name"

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: probes.test.sandboxrun.dev}
spec:
  group: test.sandboxrun.dev
  scope: Namespaced
  names: {plural: probes, singular: probe, kind: Probe}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    selectableFields:
    - jsonPath: .status.nodeName
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
            x-kubernetes-validations:
            - {rule: "self.size <= 10", message: "size is at most 10"}
            - {rule: "self == oldSelf", message: "spec is immutable"}
          status:
            type: object
            properties:
              nodeName: {type: string, maxLength: 253}
            x-kubernetes-validations:
            - rule: >-
                !has(oldSelf.nodeName) ||
                has(self.nodeName) && self.nodeName == oldSelf.nodeName
              message: "nodeName never changes once it is set"
"""

AGGREGATED_ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: test-probes-edit
  labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}
rules:
- apiGroups: [test.sandboxrun.dev]
  resources: [probes]
  verbs: [get, list, watch, create, delete]
"""

# A ConfigMap whose name starts with "own-" may be written by the agent of that node alone.
NODE_POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: test-own-node}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  matchConditions:
  - {name: own, expression: "object.metadata.name.startsWith('own-')"}
  validations:
  - expression: >-
      'authentication.kubernetes.io/node-name' in request.userInfo.extra &&
      object.metadata.name == 'own-' +
      request.userInfo.extra['authentication.kubernetes.io/node-name'][0]
    message: this token belongs to another node
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: test-own-node}
spec: {policyName: test-own-node, validationActions: [Deny]}
"""


def probe(name, size=1, **metadata):
    return json.dumps({"apiVersion": "test.sandboxrun.dev/v1", "kind": "Probe",
                       "metadata": {"name": name, **metadata}, "spec": {"size": size}})


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


class Running(unittest.TestCase):
    """Tests that share one running server."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="sandboxrun-plane-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.plane = ControlPlane(os.path.join(cls.dir, "plane"), audit=True)
        cls.plane.start()
        cls.addClassCleanup(cls.plane.stop)
        cls.kubectl = cls.plane.kubectl
        cls.kubectl("create", "namespace", NAMESPACE)
        for account in ("sandboxrun-controller", "sandboxrun-agent"):
            cls.kubectl("create", "serviceaccount", "-n", NAMESPACE, account)
        cls.kubectl("apply", "-f", "-", input=CRD)
        cls.kubectl("wait", "--for=condition=Established", "crd/probes.test.sandboxrun.dev")

    def refused(self, *args, **kwargs):
        done = self.kubectl(*args, check=False, **kwargs)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def test_ready_file_tells_how_to_reach_it(self):
        with open(os.path.join(self.plane.dir, "ready.json"), encoding="utf-8") as file:
            ready = json.load(file)
        self.assertEqual(ready, self.plane.ready)
        self.assertEqual(ready["pid"], self.plane.pid)
        self.assertEqual(ready["server"], f"https://127.0.0.1:{ready['port']}")
        self.assertLess(ready["startMilliseconds"], 30000)
        for path in (ready["caFile"], *ready["kubeconfigs"].values()):
            self.assertTrue(os.path.exists(path), path)

    def test_kubectl_and_server_are_of_one_version(self):
        version = json.loads(self.kubectl("version", "-o", "json").stdout)
        self.assertRegex(version["serverVersion"]["gitVersion"], r"^v1\.36\.\d+$")
        self.assertEqual(version["clientVersion"]["gitVersion"],
                         version["serverVersion"]["gitVersion"])

    def test_tls_is_verified_and_nobody_is_anonymous(self):
        context = ssl.create_default_context(cafile=self.plane.ca_file)
        with self.assertRaises(urllib.error.HTTPError) as answer:
            urllib.request.urlopen(self.plane.server + "/api/v1/namespaces", context=context)
        answer.exception.close()
        self.assertEqual(answer.exception.code, 403)
        with self.assertRaisesRegex(urllib.error.URLError, "CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(self.plane.server + "/readyz")

    def test_crd_rules_and_selectable_fields(self):
        self.kubectl("create", "-f", "-", input=probe("small"))
        self.assertIn("size is at most 10", self.refused("create", "-f", "-",
                                                         input=probe("large", 11)))
        self.assertIn("spec is immutable", self.refused("apply", "-f", "-",
                                                        input=probe("small", 2)))
        patch = ("patch", "probe", "small", "--subresource=status", "--type=merge", "-p")
        self.kubectl(*patch, '{"status":{"nodeName":"node-a"}}')
        self.assertIn("never changes", self.refused(*patch, '{"status":{"nodeName":"node-b"}}'))
        selected = self.plane.get("probes", "--field-selector=status.nodeName=node-a")["items"]
        self.assertEqual([item["metadata"]["name"] for item in selected], ["small"])
        self.assertEqual(self.plane.get("probes", "--field-selector=status.nodeName=x")["items"],
                         [])

    def test_strict_validation_names_the_unknown_field(self):
        document = probe("strict").replace('"size"', '"sise"')
        self.assertIn("sise", self.refused("create", "--validate=strict", "-f", "-",
                                           input=document))

    def test_ordinary_user_has_the_rights_of_edit_in_default_only(self):
        self.kubectl("create", "configmap", "mine", user="alice")
        self.assertIn("is forbidden", self.refused("create", "configmap", "mine",
                                                   "-n", "kube-system", user="alice"))
        for resource in ("nodes", "clusterroles", "namespaces"):
            self.assertIn("is forbidden", self.refused("get", resource, user="alice"))
        self.assertIn("is forbidden", self.refused("create", "rolebinding", "up",
                                                   "--clusterrole=cluster-admin", "--user=alice",
                                                   user="alice"))

    def test_aggregated_roles_reach_the_ordinary_user(self):
        self.assertIn("is forbidden", self.refused("get", "probes", user="alice"))
        self.kubectl("apply", "-f", "-", input=AGGREGATED_ROLE)
        wait_until("the rule in ClusterRole edit", lambda: self.kubectl(
            "get", "probes", user="alice", check=False).returncode == 0)
        self.kubectl("create", "-f", "-", input=probe("of-alice"), user="alice")
        self.assertIn("is forbidden", self.refused(
            "patch", "probe", "of-alice", "--subresource=status", "--type=merge",
            "-p", '{"status":{"nodeName":"x"}}', user="alice"))

    def test_another_user_has_no_right_but_its_groups(self):
        self.plane.user_kubeconfig("bob")
        self.assertIn("is forbidden", self.refused("get", "configmaps", user="bob"))
        self.plane.user_kubeconfig("carol", groups=["developers"])
        self.kubectl("get", "configmaps", user="carol")

    def whoami(self, user):
        return json.loads(self.kubectl("auth", "whoami", "-o", "json",
                                       user=user).stdout)["status"]["userInfo"]

    def test_token_of_a_service_account(self):
        self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-controller")
        identity = self.whoami("sandboxrun-controller")
        self.assertEqual(identity["username"],
                         f"system:serviceaccount:{NAMESPACE}:sandboxrun-controller")
        self.assertNotIn(NODE_CLAIM, identity["extra"])
        self.assertIn("is forbidden", self.refused("get", "pods", user="sandboxrun-controller"))

    def test_token_of_a_node_carries_its_name_and_dies_with_the_pod(self):
        self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent", node="node-a")
        user = "sandboxrun-agent-node-a"
        self.assertEqual(self.whoami(user)["extra"][NODE_CLAIM], ["node-a"])
        node = self.plane.get("node", "node-a")
        self.assertNotIn("taints", node["spec"])
        self.kubectl("delete", "pod", "-n", NAMESPACE, user)
        wait_until("the token to be refused", lambda: "Unauthorized" in self.kubectl(
            "auth", "whoami", user=user, check=False).stderr)
        self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent", node="node-a")
        self.whoami(user)

    def test_admission_policy_sees_the_node_of_a_token(self):
        self.kubectl("apply", "-f", "-", input=NODE_POLICY)
        self.kubectl("create", "rolebinding", "agents", "--clusterrole=edit",
                     f"--group=system:serviceaccounts:{NAMESPACE}")
        self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent", node="node-b")

        def create(name):
            return self.kubectl("create", "-n", "default", "configmap", name, check=False,
                                user="sandboxrun-agent-node-b").stderr
        wait_until("the policy", lambda: "another node" in create("own-node-c"))
        self.assertEqual(create("own-node-b"), "")

    def test_token_in_files(self):
        token = os.path.join(self.dir, "token")
        mounted = os.path.join(self.dir, "mounted")
        path = self.plane.service_account_kubeconfig(
            f"{NAMESPACE}/sandboxrun-controller", os.path.join(self.dir, "by-file"),
            token_file=token, in_cluster_dir=mounted, duration_s=600)
        with open(path, encoding="utf-8") as file:
            self.assertIn(f"tokenFile: {token}", file.read())
        self.assertEqual(sorted(os.listdir(mounted)), ["ca.crt", "namespace", "token"])
        self.whoami("sandboxrun-controller")

    def test_token_of_an_absent_service_account(self):
        with self.assertRaisesRegex(ControlPlaneError, '"nobody" not found'):
            self.plane.service_account_kubeconfig(f"{NAMESPACE}/nobody")
        with self.assertRaisesRegex(ControlPlaneError, "not NAMESPACE/NAME"):
            self.plane.service_account_kubeconfig("nobody")

    def test_namespaces_go_away(self):
        self.kubectl("create", "namespace", "team")
        self.kubectl("create", "-n", "team", "-f", "-", input=probe("left"))
        self.kubectl("delete", "namespace", "team", "--timeout=30s")

    def test_what_is_owned_goes_with_its_owner(self):
        self.kubectl("create", "configmap", "owner")
        uid = self.plane.get("configmap", "owner")["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
        self.kubectl("create", "-f", "-", input=probe("owned", ownerReferences=[owner]))
        self.kubectl("delete", "configmap", "owner")
        wait_until("the garbage collector", lambda: self.kubectl(
            "get", "probe", "owned", check=False).returncode != 0, timeout=30)

    def test_audit_log_has_every_request(self):
        self.kubectl("create", "configmap", "audited", user="alice")
        events = [e for e in self.plane.audit_events()
                  if e.get("objectRef", {}).get("name") == "audited"]
        self.assertEqual([(e["verb"], e["user"]["username"], e["responseStatus"]["code"])
                          for e in events], [("create", "alice", 201)])

    def test_kustomize(self):
        base = os.path.join(self.dir, "kustomize")
        os.mkdir(base)
        with open(os.path.join(base, "kustomization.yaml"), "w", encoding="utf-8") as file:
            file.write("namePrefix: a-\nresources: [map.yaml]\n")
        with open(os.path.join(base, "map.yaml"), "w", encoding="utf-8") as file:
            file.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: map}}\n")
        self.assertIn("name: a-map", self.kubectl("kustomize", base).stdout)
        self.kubectl("apply", "-k", base)
        self.plane.get("configmap", "a-map")

    def test_helm_installs_and_removes_a_chart(self):
        chart = os.path.join(self.dir, "chart")
        os.makedirs(os.path.join(chart, "templates"))
        with open(os.path.join(chart, "Chart.yaml"), "w", encoding="utf-8") as file:
            file.write("{apiVersion: v2, name: tiny, version: 1.0.0, description: a test}\n")
        with open(os.path.join(chart, "templates/map.yaml"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""\
                apiVersion: v1
                kind: ConfigMap
                metadata: {name: "{{ .Release.Name }}-map"}
                data: {kube: "{{ .Capabilities.KubeVersion.Version }}"}
                """))
        self.plane.helm("lint", "--strict", chart)
        self.assertIn("v1.36", self.plane.helm("template", chart).stdout)
        self.plane.helm("install", "one", chart)
        self.assertRegex(self.plane.get("configmap", "one-map")["data"]["kube"], r"^v1\.36\.\d+$")
        self.plane.helm("uninstall", "one")
        self.refused("get", "configmap", "one-map")


class Life(unittest.TestCase):
    """Starts, ends and mistakes; each test has a directory of its own, with a long name."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sandboxrun-plane-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.plane = ControlPlane(os.path.join(self.dir, "long-name-" * 12))
        self.addCleanup(self.plane.kill)

    def controlplane(self, *args):
        return subprocess.run([os.path.join(BIN, "controlplane"), *args], text=True,
                              capture_output=True, timeout=60)

    def test_objects_and_address_survive_a_crash(self):
        before = self.plane.start()
        kubeconfig = self.plane.kubeconfig("alice")
        with open(kubeconfig, encoding="utf-8") as file:
            old = file.read()
        self.plane.kubectl("create", "configmap", "kept", "--from-literal=a=b")
        self.plane.kill()
        self.assertNotEqual(self.plane.kubectl("get", "configmap", "kept",
                                               check=False).returncode, 0)
        after = self.plane.start()
        self.assertEqual(after["server"], before["server"])
        self.assertNotEqual(after["pid"], before["pid"])
        self.assertEqual(self.plane.get("configmap", "kept")["data"], {"a": "b"})
        # A client that has read its kubeconfig before the crash goes on with it.
        with open(kubeconfig, "w", encoding="utf-8") as file:
            file.write(old)
        self.plane.kubectl("get", "configmap", "kept", user="alice")
        self.plane.stop()
        self.assertFalse(os.path.exists(os.path.join(self.plane.dir, "ready.json")))
        self.plane.start()
        self.plane.get("configmap", "kept")

    def test_etcd_of_its_own_goes_and_comes_back(self):
        # A Unix socket's address is short, other than that of the directory of the data.
        etcd = Etcd(self.plane.dir, f"unix://{self.dir}/etcd")
        self.addCleanup(etcd.kill)
        etcd.start()
        self.plane.args += ["--etcd", etcd.url]
        before = self.plane.start()
        self.plane.kubectl("create", "configmap", "kept", "--from-literal=a=b")
        etcd.kill()
        done = self.plane.kubectl("create", "configmap", "lost", "--request-timeout=1s",
                                  check=False)
        self.assertNotEqual(done.returncode, 0)
        etcd.start()
        wait_until("an answer", lambda: self.plane.kubectl(
            "get", "configmap", "kept", "--request-timeout=5s", check=False).returncode == 0)
        self.assertEqual(self.plane.pid, before["pid"])
        self.plane.kill()
        self.plane.start()
        self.assertEqual(self.plane.get("configmap", "kept")["data"], {"a": "b"})
        self.plane.kubectl("create", "configmap", "after")

    def test_an_address_is_in_the_certificate(self):
        self.plane.args += ["--address", "127.0.0.9"]
        self.plane.start()
        context = ssl.create_default_context(cafile=self.plane.ca_file)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"https://127.0.0.9:{self.plane.port}/", timeout=10,
                                   context=context)
        self.addCleanup(caught.exception.close)
        self.assertIn(caught.exception.code, (401, 403))

    def test_pause_and_resume(self):
        self.plane.start()
        self.plane.pause()
        done = self.plane.kubectl("get", "--request-timeout=1s", "namespaces", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.plane.resume()
        self.plane.kubectl("get", "namespaces")
        self.plane.pause()
        self.plane.stop()

    def test_the_second_in_a_directory_is_refused(self):
        self.plane.start()
        with self.assertRaisesRegex(ControlPlaneError, "in use by another control plane"):
            ControlPlane(self.plane.dir).start()
        self.plane.kubectl("get", "namespaces")

    def test_it_ends_with_the_process_that_started_it(self):
        script = ("import os, sys\n"
                  "sys.path.insert(0, sys.argv[1])\n"
                  "from helpers.controlplane import ControlPlane\n"
                  "print(ControlPlane(sys.argv[2]).start()['pid'], flush=True)\n"
                  "os._exit(0)\n")
        tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        done = subprocess.run([sys.executable, "-c", script, tests, self.plane.dir], text=True,
                              stdout=subprocess.PIPE, timeout=60, check=True)
        pid = int(done.stdout)
        wait_until("the server to end", lambda: not running(pid), timeout=20)

    def test_without_controllers(self):
        plane = ControlPlane(os.path.join(self.dir, "bare"), controllers=False)
        self.addCleanup(plane.kill)
        plane.start()
        self.assertIn("NotFound", plane.kubectl("get", "serviceaccount", "default",
                                                check=False).stderr)
        plane.stop()

    def test_flags_reach_kube_apiserver(self):
        plane = ControlPlane(os.path.join(self.dir, "flags"),
                             args=["--", "--runtime-config=batch/v1=false"])
        self.addCleanup(plane.kill)
        plane.start()
        self.assertNotIn("cronjobs", plane.kubectl("api-resources").stdout)
        plane.stop()
        plane.args = ["--", "--no-such-flag"]
        with self.assertRaisesRegex(ControlPlaneError, "unknown flag: --no-such-flag"):
            plane.start()

    def test_mistakes_are_explained(self):
        empty = os.path.join(self.dir, "empty")
        cases = [
            (2, "unknown command", ["stop"]),
            (2, "Usage", []),
            (2, "not defined: -no-such", ["start", "--no-such"]),
            (1, "use --dir", ["start"]),
            (1, "is no IP address", ["start", "--dir", empty, "--address", "here"]),
            (1, "--listen is missing", ["etcd", "--dir", empty]),
            (1, "no control plane is running", ["kubeconfig", "--dir", empty, "--user", "a",
                                                "--out", "b"]),
            (1, "one of --service-account and --user", ["kubeconfig", "--dir", empty]),
            (1, "--group needs --user", ["kubeconfig", "--service-account", "a/b", "--group",
                                         "c"]),
            (1, "give --out", ["kubeconfig", "--service-account", "a/b"]),
            (1, "need --service-account", ["kubeconfig", "--user", "a", "--node", "n"]),
        ]
        for status, message, args in cases:
            with self.subTest(args=args):
                done = self.controlplane(*args)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(message, done.stderr)

    def test_stop_signals_end_it_before_it_is_ready(self):
        child = subprocess.Popen([os.path.join(BIN, "controlplane"), "start", "--dir",
                                  self.plane.dir], stderr=subprocess.DEVNULL)
        wait_until("its lock", lambda: os.path.exists(os.path.join(self.plane.dir, "lock")))
        time.sleep(0.3)
        self.assertFalse(os.path.exists(os.path.join(self.plane.dir, "ready.json")))
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(30), 0)


if __name__ == "__main__":
    unittest.main()
