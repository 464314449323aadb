# SPDX-License-Identifier: Apache-2.0
"""A whole SandboxRun cluster on this machine: a real API server, the controller, and nodes.

Every process runs as it does in production: the controller and the agents as uid 65532 without
capabilities, each with a service account token of its own; the jailers as root.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.parse
import urllib.request

from helpers.controlplane import ControlPlane
from helpers.local import BIN, ROOT, RUNTIMES, program, unprivileged
from helpers.manifests import NAMESPACE, wait_until_agents_are_bound
from helpers.netns import enter
from helpers.wait import wait_until

UID, RESOLVER_UID = 65532, 65533
TERMINAL = ("Succeeded", "Failed")
SANDBOX_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Process:
    """A program with its log in a file; ended by its own pid only.

    uid: as which it runs, without any privilege.
    network: a process in whose network namespace it is to be.
    """

    def __init__(self, name, argv, log_dir, uid=None, network=None):
        self.name = name
        self.log_path = os.path.join(log_dir, f"{name}.log")
        if uid:
            argv = unprivileged(uid, *argv)
        if network:
            argv = enter(network, *argv)
        with open(self.log_path, "ab") as log:
            self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          env={"PATH": os.environ["PATH"]}, cwd="/")

    @property
    def pid(self):
        return self.child.pid

    def alive(self):
        return self.child.poll() is None

    def stop(self, timeout=30):
        if self.alive():
            self.child.terminate()
        return self.child.wait(timeout)

    def kill(self):
        if self.alive():
            self.child.send_signal(signal.SIGKILL)
        self.child.wait(30)

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()


def reach_by(kubeconfig, server, host, port):
    """Has a kubeconfig lead to the API server by way of another address."""
    with open(kubeconfig, encoding="utf-8") as file:
        text = file.read()
    assert server in text, text
    moved = urllib.parse.urlsplit(server)._replace(netloc=f"{host}:{port}").geturl()
    with open(kubeconfig, "w", encoding="utf-8") as file:
        file.write(text.replace(server, moved))


def start_resolver(name, log_dir, jailer_socket, *args, network=None):
    """As in the Pod of a node. Nobody answers what it asks."""
    return Process(name, [program("sandboxrun-resolver"), "--jailer-socket", jailer_socket,
                          "--port", "0", "--upstream", "192.0.2.53", *args],
                   log_dir, uid=RESOLVER_UID, network=network)


class Node:
    """One node: a jailer, its agent, a socket and a spool between them."""

    runtimes = RUNTIMES
    network = None
    before_agent = ()  # words before its command

    def __init__(self, cluster, name, jailer_args=()):
        self.cluster = cluster
        self.name = name
        self.dir = os.path.join(cluster.dir, name)
        os.mkdir(self.dir, 0o755)
        self.socket = os.path.join(self.dir, "jailer.sock")
        self.spool = os.path.join(self.dir, "spool")
        self.kubeconfig = os.path.join(self.dir, "kubeconfig")
        self.jailer_args = list(jailer_args)
        self.jailer = None
        self.agent = None
        cluster.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-agent", self.kubeconfig,
                                                 node=name)
        os.chown(self.kubeconfig, UID, UID)

    def start_jailer(self):
        self.jailer = Process(
            f"{self.name}-jailer",
            [self.cluster.program("sandboxrun-jailer"), "--socket", self.socket,
             "--peer-uid", str(UID), "--runtimes-dir", self.runtimes, "--spool-dir", self.spool,
             *self.jailer_args],
            self.cluster.dir, network=self.network)
        wait_until(f"the jailer's socket of {self.name}", lambda: self.check_jailer())

    def check_jailer(self):
        if not self.jailer.alive():
            raise AssertionError(f"the jailer ended: {self.jailer.log()}")
        return os.path.exists(self.socket)

    def start_agent(self, *args):
        self.agent = Process(
            f"{self.name}-agent",
            [*self.before_agent, self.cluster.program("sandboxrun-agent"), "--node-name", self.name,
             "--jailer-socket", self.socket, "--spool-dir", self.spool,
             "--kubeconfig", self.kubeconfig, "--output-address", "127.0.0.1:0",
             "--output-host", "127.0.0.1", "--lease-namespace", NAMESPACE, *args],
            self.cluster.dir, uid=UID, network=self.network)

    def start(self):
        self.start_jailer()
        self.start_agent()
        wait_until(f"node {self.name} to be ready", self.ready)

    def status(self):
        done = self.cluster.kubectl("get", "sbn", self.name, "-o", "json", check=False)
        return json.loads(done.stdout).get("status", {}) if done.returncode == 0 else {}

    def ready(self):
        if not self.agent.alive():
            raise AssertionError(f"the agent ended: {self.agent.log()}")
        return any(c["type"] == "Ready" and c["status"] == "True"
                   for c in self.status().get("conditions", []))

    def spooled(self):
        """The marks and results in its spool."""
        return [name for name in os.listdir(self.spool) if name.startswith("run-")]

    def stop(self):
        for process in (self.agent, self.jailer):
            if process:
                process.stop()


class Cluster:
    """audit: keep a record of every request, for plane.audit_events()."""

    def __init__(self, audit=False):
        self.dir = tempfile.mkdtemp(prefix="sandboxrun-cluster-")
        os.chmod(self.dir, 0o755)
        self.bin = os.path.join(self.dir, "bin")
        os.mkdir(self.bin)
        for program in ("sandboxrun-controller", "sandboxrun-agent", "sandboxrun-jailer"):
            shutil.copy(os.path.join(BIN, program), self.bin)
        self.plane = ControlPlane(os.path.join(self.dir, "plane"), audit=audit)
        self.controller = None
        self.controller_kubeconfig = os.path.join(self.dir, "controller.kubeconfig")
        self.nodes = []

    def program(self, name):
        return os.path.join(self.bin, name)

    def kubectl(self, *args, **kwargs):
        return self.plane.kubectl(*args, **kwargs)

    def start(self, nodes=("node-a", "node-b")):
        self.plane.start()
        self.kubectl("apply", "-k", os.path.join(ROOT, "manifests"))
        self.kubectl("wait", "--for=condition=Established", "--timeout=30s",
                     "crd/sandboxruns.sandboxrun.dev", "crd/sandboxnodes.sandboxrun.dev")
        wait_until_agents_are_bound(self.plane)
        # Only nodes decide here where ToolCall runs; test_admission.py is about the namespaces.
        self.kubectl("label", "namespace", "default", "sandboxrun.dev/toolcall=allowed")
        self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-controller",
                                              self.controller_kubeconfig)
        os.chown(self.controller_kubeconfig, UID, UID)
        self.start_controller()
        for name in nodes:
            node = Node(self, name)
            self.nodes.append(node)
            node.start()

    def start_controller(self, *args):
        """One that is alone, and so need not wait for the Lease of one that was killed."""
        self.controller = self.new_controller("controller", "--leader-elect=false", *args)

    def new_controller(self, name, *args):
        return Process(
            name,
            [self.program("sandboxrun-controller"), "--kubeconfig", self.controller_kubeconfig,
             "--lease-namespace", NAMESPACE, *args],
            self.dir, uid=UID)

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.controller:
            self.controller.stop()
        # Nobody needs its data again, and an orderly end would wait for open watches.
        self.plane.kill()
        if os.environ.get("SANDBOXRUN_TEST_KEEP"):
            print(f"logs are kept in {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def create(self, document, namespace="default"):
        done = self.kubectl("create", "-n", namespace, "-o", "json", "-f", "-",
                            input=json.dumps(document))
        return json.loads(done.stdout)

    def get(self, name, namespace="default"):
        done = self.kubectl("get", "sbr", name, "-n", namespace, "-o", "json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def delete(self, name, namespace="default"):
        self.kubectl("delete", "sbr", name, "-n", namespace, "--wait=false", check=False)

    def wait_phase(self, name, phases, namespace="default", timeout=30):
        def probe():
            run = self.get(name, namespace)
            return run if run and run["status"]["phase"] in phases else None
        return wait_until(f"{namespace}/{name} to be {' or '.join(phases)}", probe, timeout, 0.1)

    def wait_finished(self, name, namespace="default", timeout=60):
        return self.wait_phase(name, TERMINAL, namespace, timeout)


def run_document(name, code, **spec):
    return {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
            "metadata": {"name": name}, "spec": {"code": code, **spec}}


def jails():
    """The ids of the live sandboxes of this machine: each has a cgroup of its id."""
    found = set()
    for top in cgroup_roots():
        for _, names, _ in os.walk(os.path.join(top, "sandboxrun")):
            found.update(name for name in names if SANDBOX_ID.fullmatch(name))
    return found


def cgroup_roots():
    roots = []
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[fields.index("-") + 1] in ("cgroup", "cgroup2"):
                roots.append(fields[4])
    return roots


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def http_get(url, timeout=5):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.status, answer.read().decode()


def metric(text, name):
    """The value of a metric, whose name may have labels, in what a program serves at /metrics; None
    if it isn't there."""
    return next((float(line.split()[-1]) for line in text.splitlines()
                 if line.startswith(f"{name} ")), None)
