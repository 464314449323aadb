# SPDX-License-Identifier: Apache-2.0
"""One cluster for all tests of this layer, two kubectls that speak to it, and runs in every state.

What a real node does quickly is really run. The states that are rare, late or over in a moment are
played: such a run asks for a node that isn't there, so that the controller leaves it alone, and its
status is written as the parts of the platform would.
"""

import atexit
import json
import os
import re
import subprocess
import time
import unittest
from datetime import datetime, timezone

from helpers.cluster import Cluster, Node, free_port, run_document, start_resolver
from helpers.rawapi import RawApi
from helpers.wait import wait_until

OLD, NEW = "kubectl-old", "kubectl"
KUBECTLS = (OLD, NEW)
RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"
PLAYED = {"nodeSelector": {"played": "yes"}, "queueTimeoutSeconds": 3600,
          "ttlSecondsAfterFinished": 3600}
NODE = "node-a"
# Of a played run: assigned, started, over. Lately, or the controller would delete it.
AT = [datetime.fromtimestamp(time.time() + seconds, timezone.utc).isoformat().replace("+00:00", "Z")
      for seconds in (0.000001, 0.100002, 0.200003)]

SIGNALED = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"
DEADLINE = "while True:\n    pass\n"
MEMORY = "held = []\nwhile True:\n    held.append(b'x' * (1 << 20))\n"
# kexec_load
FORBIDDEN = (f"import ctypes\nctypes.CDLL(None).syscall("
             f"{246 if os.uname().machine == 'x86_64' else 104}, 0, 0, 0, 0)\n")
FLOOD = "import os\nwhile True:\n    os.write(1, b'x' * 65536)\n"

# name: (code, fields of spec, reason of its end)
REAL = {
    "hello": ("print('hello')", {}, "Completed"),
    "exits-3": ("raise SystemExit(3)", {}, "Error"),
    "signaled": (SIGNALED, {}, "Signaled"),
    "deadline": (DEADLINE, {"timeoutSeconds": 1}, "DeadlineExceeded"),
    "memory": (MEMORY, {"resources": {"limits": {"memory": "64Mi"}}}, "OOMKilled"),
    "flood": (FLOOD, {"timeoutSeconds": 60}, "OutputLimitExceeded"),
    "forbidden": (FORBIDDEN, {}, "ForbiddenSyscall"),
    "queued": ("print(1)", {"nodeSelector": {"no": "such-node"}, "queueTimeoutSeconds": 1},
               "QueueTimeout"),
}

# What only a fault of the platform, a limit that isn't set here, or a spec that the API server
# refuses would bring about.
FAULTS = ("Cancelled", "QueueFull", "InvalidSpec", "SandboxSetupFailed", "JailerLost",
          "AgentRestarted", "NodeLost", "InternalError")


class KubectlCluster(Cluster):
    """One node; all of the programs serve their health and metrics."""

    def __init__(self):
        super().__init__()
        self.controller_port = free_port()
        self.agent_port = free_port()
        self.api = None
        self.node = None

    def start_controller(self, *args):
        super().start_controller("--health-address", f"127.0.0.1:{self.controller_port}", *args)

    def start(self):
        super().start(nodes=())
        self.api = RawApi(self.plane)
        self.node = Node(self, NODE)
        self.nodes.append(self.node)
        self.node.start_jailer()
        self.start_agent()
        wait_until("the node to be ready", self.node.ready)

    def start_agent(self):
        self.node.start_agent("--health-address", f"127.0.0.1:{self.agent_port}")

    def start_resolver(self, name):
        """One whose jailer isn't there; and the port of its health and metrics."""
        port = free_port()
        return start_resolver(name, self.dir, os.path.join(self.dir, "nobody.sock"),
                              "--metrics-address", f"127.0.0.1:{port}"), port

    def kubectl_of(self, program, *args, **kwargs):
        return self.plane.kubectl(*args, program=program, **kwargs)

    def start_watching(self, program, *args):
        """A kubectl that goes on by itself, as with -w; its watch is open."""
        child = subprocess.Popen([self.plane.program(program), *args, "-v=6"],
                                 env=self.plane.environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = ""
        while "watch=true" not in said:
            line = child.stderr.readline()
            if not line:
                child.communicate()
                raise AssertionError(f"{program} ended, and said: {said}")
            said += line
        return child

    @staticmethod
    def lines(process):
        """The log of one of the programs; each line of it is an object."""
        return [json.loads(line) for line in process.log().splitlines()]

    def wait_for_line(self, process, message, sandbox):
        def probe():
            return [line for line in self.lines(process)
                    if (line["msg"], line.get("sandbox")) == (message, sandbox)]
        return wait_until(f"{message!r} of {sandbox} in the log of {process.name}", probe)[0]

    def play(self, name, *statuses, **spec):
        """A run that goes through these statuses, written one after the other."""
        self.create(run_document(name, "print(1)", **{**PLAYED, **spec}))
        for status in statuses:
            self.play_on(name, status)

    def play_on(self, name, status):
        answer = self.api.patch(f"{RUNS}/{name}/status", {"status": status},
                                fieldValidation="Strict")
        if not answer.accepted:
            raise AssertionError(f"the status of {name} was refused: {answer.message}")


def scheduled(sandbox):
    return {"phase": "Scheduled", "nodeName": "node-p", "agentInstance": "instance-p",
            "sandboxID": sandbox, "scheduledTime": AT[0], "conditions": [
                {"type": "Scheduled", "status": "True", "reason": "Assigned",
                 "message": "Assigned to node node-p.", "lastTransitionTime": AT[0]},
                {"type": "Finished", "status": "False", "reason": "Scheduled",
                 "message": "The run has not finished.", "lastTransitionTime": AT[0]}]}


def running(sandbox):
    return {**scheduled(sandbox), "phase": "Running", "startTime": AT[1]}


def failed(reason, message="the platform failed"):
    return {"phase": "Failed", "reason": reason, "exitCode": -1, "message": message,
            "completionTime": AT[2], "conditions": [
                {"type": "Finished", "status": "True", "reason": reason, "message": message,
                 "lastTransitionTime": AT[2]}]}


_cluster = None


def the_cluster():
    """Started when it is first asked for, ended with this process."""
    global _cluster
    if _cluster is None:
        _cluster = KubectlCluster()
        atexit.register(_cluster.stop)
        _cluster.start()
        for name, (code, spec, _) in REAL.items():
            _cluster.create(run_document(name, code, **{"ttlSecondsAfterFinished": 3600, **spec}))
        for name in REAL:
            _cluster.wait_finished(name)
    return _cluster


class KubectlCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = the_cluster()

    def kubectl(self, program, *args, **kwargs):
        return self.cluster.kubectl_of(program, *args, **kwargs)

    def remove_later(self, name):
        self.addCleanup(self.cluster.delete, name)

    def play(self, name, *statuses, **spec):
        self.remove_later(name)
        self.cluster.play(name, *statuses, **spec)

    def create(self, name, code, **spec):
        self.remove_later(name)
        return self.cluster.create(run_document(name, code, **spec))

    def refused(self, program, *args, **kwargs):
        done = self.kubectl(program, *args, check=False, **kwargs)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr


def table(text):
    """The rows that kubectl prints, by their names, each as a dict by column. Cells may be empty,
    so that the header's columns say where they are."""
    header, *rows = text.splitlines()
    columns = [(match.group(), match.start()) for match in re.finditer(r"\S+", header)]
    found = {}
    for row in rows:
        cells = {}
        for index, (column, start) in enumerate(columns):
            end = columns[index + 1][1] if index + 1 < len(columns) else None
            cells[column] = row[start:end].strip()
        found[cells["NAME"]] = cells
    return found


def headers(text):
    return text.splitlines()[0].split()
