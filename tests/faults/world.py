# SPDX-License-Identifier: Apache-2.0
"""The cluster that the faults befall: every part a process, each in a network namespace.

Parts are kept alive as a kubelet would: what has ended is started again, after a while that a fault
may set. The test shares the API server's namespace.
"""

import contextlib
import http.client
import os
import signal
import subprocess
import tempfile
import threading
import time

from helpers.cluster import (NAMESPACE, RUNTIMES, UID, Cluster, Node, Process, http_get, metric,
                             reach_by)
from helpers.controlplane import ControlPlane, ControlPlaneError, Etcd
from helpers.rawapi import RawApi
from helpers.marks import Marks
from helpers.netns import enter
from helpers.wait import wait_until
from clocks import Clocks
from disks import Disk
from network import Hub
from spools import Spools

PARENT = "sandboxrun-faults"
FIRST_UID = 2_100_300_000
JAILER_OPTIONS = ("--cgroup-parent", PARENT, "--uid-base", str(FIRST_UID), "--max-runs", "16",
                  "--cpu-capacity", "16", "--memory-capacity", "4Gi")
NODES = ("node-a", "node-b", "node-c")
CONTROLLERS = ("controller-a", "controller-b")
# Which of them a fault means: the one that leads when it begins, or the other one.
ACTIVE, STANDBY = "active", "standby"

# A node is silent after 3 s, and starts nothing 1.5 s after its last renewal. Runs have a timeout
# of 3 s, so that a node that stays silent counts as lost 1.5 + 3 + 5 s after its last renewal.
TIMES = ("--lease-duration", "3s", "--lease-renew-interval", "1s")
SILENT_S, TIMEOUT_S = 3.0, 3
LOST_S = 1.5 + TIMEOUT_S + 5.0

# A controller that can't renew stops writing after 2 s, and another one leads 3.5 s after the last
# renewal that it saw.
ELECTION = ("--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s",
            "--leader-elect-retry-period", "500ms")
TAKEN_OVER_S = 3.5

ETCD_PORT, HEALTH_PORT = 2379, 8080
TEND_EVERY_S = 0.02


class Part:
    """A process that is started again when it has ended, by a thread of its own: the others go on
    whatever a start waits for. start: gives the Process."""

    def __init__(self, name, start):
        self.name = name
        self.start = start
        self.process = None
        self.down_until = 0.0
        self.pauses = 0  # under way; a process that is started meanwhile isn't stopped
        self.lock = threading.RLock()
        self.over = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self._keep, name=name, daemon=True)

    def begin(self):
        self.thread.start()

    def _keep(self):
        try:
            while not self.over.wait(TEND_EVERY_S):
                with self.lock:
                    if not self.alive() and time.monotonic() >= self.down_until:
                        self.start_anew()
        except Exception as problem:  # told by check()
            self.failure = problem

    def check(self):
        if self.failure:
            raise self.failure

    def alive(self):
        return self.process is not None and self.process.alive()

    def start_anew(self):
        self.process = self.start()

    def kill(self, down_s):
        with self.lock:
            self.down_until = time.monotonic() + down_s
            if self.process:
                self.process.kill()

    def pause(self):
        with self.lock:
            self.pauses += 1
            if self.alive():
                self.process.child.send_signal(signal.SIGSTOP)

    def resume(self):
        with self.lock:
            self.pauses -= 1
            if self.pauses == 0 and self.alive():
                self.process.child.send_signal(signal.SIGCONT)

    def stop(self):
        """Ends it for good, in order if that works."""
        self.over.set()
        if self.thread.ident:
            self.thread.join()
        if self.alive():
            self.process.child.send_signal(signal.SIGCONT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.stop(10)
        if self.process:
            self.process.kill()


class ServerPart(Part):
    """One of the control plane; a start returns when it serves."""

    def __init__(self, name, server):
        super().__init__(name, server.start)
        self.server = server
        self.kills = 0

    def alive(self):
        return self.server.running()

    def start_anew(self):
        self.server.kill()  # what is left of an end of its own
        kills = self.kills
        try:
            self.start()
        except ControlPlaneError:
            if self.kills == kills:
                raise

    def kill(self, down_s):
        # At once, even while it starts, which is then for the next start to do.
        self.kills += 1
        if child := self.server.child:
            child.kill()
        with self.lock:
            self.down_until = time.monotonic() + down_s
            self.server.kill()

    def stop(self):
        self.over.set()
        if self.thread.ident:
            self.thread.join()
        self.server.kill()


class FaultNode(Node):
    """A node in a namespace of its own."""

    def __init__(self, world, name):
        super().__init__(world, name, JAILER_OPTIONS)
        self.runtimes = world.marks.runtimes
        self.place = world.hub.join(name)
        self.network = self.place.pid
        self.before_agent = world.clocks.words(name)
        self.health = f"{self.place.address}:{HEALTH_PORT}"
        world.disks[name] = Disk(self.spool)
        reach_by(self.kubeconfig, world.plane.server, world.api_place.address, world.plane.port)
        self.jailer_part = Part(f"{name}-jailer", self.new_jailer)
        self.agent_part = Part(f"{name}-agent", self.new_agent)

    def new_jailer(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)  # else it would be taken for that of the next jailer
        self.start_jailer()
        return self.jailer

    def new_agent(self):
        self.start_agent("--health-address", self.health, *TIMES)
        return self.agent

    def too_late(self):
        """How many results this agent has found to be too late; None if it doesn't say."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            return metric(http_get(f"http://{self.health}/metrics", timeout=1)[1],
                          "sandboxrun_agent_results_too_late_total")
        return None


class World(Cluster):
    def __init__(self):
        super().__init__()
        self.hub = Hub()
        self.api_place = self.hub.join("apiserver", os.getpid())
        etcd_place = self.hub.join("etcd")
        url = f"http://{etcd_place.address}:{ETCD_PORT}"
        directory = os.path.join(self.dir, "plane")
        self.etcd = Etcd(directory, url, enter(etcd_place.pid))
        self.plane = ControlPlane(directory, args=("--etcd", url, "--address",
                                                   self.api_place.address))
        self.clocks = Clocks(self.bin)
        self.disks = {}
        self.kubeconfigs = {}  # of the controllers
        self.leads = CONTROLLERS[0]  # as far as it is known
        # Beside the runtimes of the build, so that links to them are possible.
        self.marks = Marks(os.path.join(self.beside_runtimes(), "runtimes"))
        self.spools = Spools()
        self.parts = {}
        self.api = None

    def beside_runtimes(self):
        self.scratch = tempfile.mkdtemp(prefix=".sandboxrun-faults-",
                                        dir=os.path.dirname(os.path.abspath(RUNTIMES)))
        os.chmod(self.scratch, 0o755)
        return self.scratch

    def start(self):
        self.add_part(ServerPart("etcd", self.etcd))
        self.add_part(ServerPart("apiserver", self.plane))
        self.etcd.start()
        super().start(nodes=())
        self.api = RawApi(self.plane, timeout_s=2)
        for name in NODES:
            node = FaultNode(self, name)
            self.nodes.append(node)
            self.add_part(node.jailer_part)
            self.add_part(node.agent_part)
        for part in self.parts.values():
            part.begin()
        for node in self.nodes:
            wait_until(f"the parts of {node.name}", self.all_alive, 60)
            self.spools.watch(node.spool)
            wait_until(f"node {node.name} to be ready", node.ready, 60)

    def add_part(self, part):
        self.parts[part.name] = part

    def start_controller(self, *_):
        """Both, each with a place and a token of its own."""
        for name in CONTROLLERS:
            path = os.path.join(self.dir, f"{name}.kubeconfig")
            self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-controller", path,
                                                  node=name)
            os.chown(path, UID, UID)
            reach_by(path, self.plane.server, self.api_place.address, self.plane.port)
            self.kubeconfigs[name] = path
            self.hub.join(name)
            self.add_part(Part(name, lambda name=name: self.new_controller(name)))

    def new_controller(self, name, *_):
        place = self.hub.places[name]
        return Process(name,
                       [*self.clocks.words(name), self.program("sandboxrun-controller"),
                        "--kubeconfig", self.kubeconfigs[name], "--lease-namespace", NAMESPACE,
                        "--health-address", f"{place.address}:{HEALTH_PORT}", *TIMES, *ELECTION],
                       self.dir, uid=UID, network=place.pid)

    def find(self, target):
        """The part that a fault of this target befalls now."""
        if target not in (ACTIVE, STANDBY):
            return target
        # If none tells that it leads, another fault has just ended; who led before may do.
        self.leads = next((name for name in CONTROLLERS if self.is_leading(name)), self.leads)
        others = [name for name in CONTROLLERS if name != self.leads]
        return self.leads if target == ACTIVE else others[0]

    def is_leading(self, name):
        address = self.hub.places[name].address
        with contextlib.suppress(OSError, http.client.HTTPException):
            text = http_get(f"http://{address}:{HEALTH_PORT}/metrics", timeout=0.3)[1]
            return metric(text, "sandboxrun_controller_leader") == 1
        return False

    def all_alive(self):
        for part in self.parts.values():
            part.check()
        return all(part.alive() for part in self.parts.values())

    def stop(self):
        # The nodes first: an agent that is told to end writes what it has to an API server, and a
        # controller gives its Lease back.
        for part in reversed(self.parts.values()):
            part.stop()
        self.plane.kill()
        self.etcd.kill()
        self.nodes = []
        self.spools.close()
        for disk in self.disks.values():
            disk.close()
        self.marks.close()
        os.rmdir(self.scratch)
        self.hub.close()
        super().stop()
