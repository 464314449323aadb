# SPDX-License-Identifier: Apache-2.0
"""The part of the soak test with everything real: API server, controller, agent and jailer.

Runs are created as a user creates them, some are deleted on the way. At first all parts live, and
must not grow; then agent, jailer and controller get SIGKILL at random moments and start again. Each
run ends, as its program says or with the reason that names the part that was lost.
"""

import os
import signal
import time

import census
from helpers.cgroup_tree import parent_is_gone, sandboxes_below
from helpers.cluster import Cluster, Node, run_document
from helpers.rawapi import RawApi
from helpers.wait import wait_until
from parts import OPTIONS, anonymous_kib
from programs import choose, differs

AT_A_TIME = 8
ENDED_WITHIN_S = 150
MAX_LIFE_OF_PARTS_S = 1.5
RUNS_PATH = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"
LOST_WITH_A_PART = (("AgentRestarted", -1), ("JailerLost", -1))
DELETED_SHARE, DELETED_WITHIN_S = 0.08, 0.3


class Run:
    def __init__(self, name, program, delete_at):
        self.name, self.program = name, program
        self.created_at = time.monotonic()
        self.delete_at = delete_at
        self.deleted = False
        self.disturbed = False  # a part was killed while it was on its way

    def document(self):
        return run_document(self.name, self.program.code, timeoutSeconds=self.program.timeout_s,
                            resources={"limits": {"memory": f"{self.program.memory_mib}Mi"}})

    def __str__(self):
        return f"{self.name} ({self.program.name})"


class ClusterPart:
    def __init__(self, soak):
        self.soak = soak
        self.cluster = Cluster()
        self.number = 0
        self.open = {}

    def __enter__(self):
        cluster = self.cluster
        self.soak.pids += [self.plane_pid, self.controller_pid, self.agent_pid, self.jailer_pid]
        self.node = None
        try:
            cluster.start(nodes=())
            self.api = RawApi(cluster.plane)
            self.node = Node(cluster, "soak-node", OPTIONS)
            cluster.nodes.append(self.node)
            self.node.start()
        except BaseException:
            cluster.stop()
            raise
        return self

    def __exit__(self, *_):
        self.cluster.stop()
        for each in (self.plane_pid, self.controller_pid, self.agent_pid, self.jailer_pid):
            self.soak.pids.remove(each)

    def plane_pid(self):
        return self.cluster.plane.child and self.cluster.plane.child.pid

    def controller_pid(self):
        return self.cluster.controller and self.cluster.controller.pid

    def agent_pid(self):
        return self.node and self.node.agent and self.node.agent.pid

    def jailer_pid(self):
        return self.node and self.node.jailer and self.node.jailer.pid

    # ---- runs

    def create(self):
        chance = self.soak.chance
        program = choose(chance, agent=True)
        # Made as a choice of the plan before anything of the run is known.
        delay = chance.uniform(0, DELETED_WITHIN_S) if chance.random() < DELETED_SHARE else None
        run = Run(f"soak-{self.number}", program, delay and time.monotonic() + delay)
        self.number += 1
        answer = self.api.post(RUNS_PATH, run.document())
        if not answer.accepted:
            raise AssertionError(f"{run}: {answer.message}")
        self.open[run.name] = run

    def look(self):
        """Takes what has ended, and deletes what is to be deleted on its way."""
        items = {item["metadata"]["name"]: item for item in self.api.get(RUNS_PATH).body["items"]}
        for run in list(self.open.values()):
            item = items.get(run.name)
            if item is None or item["status"]["phase"] in ("Succeeded", "Failed"):
                self.ended(run, item)
            elif not run.deleted and run.delete_at and time.monotonic() >= run.delete_at:
                run.deleted = True
                self.api.delete(f"{RUNS_PATH}/{run.name}")
            elif time.monotonic() > run.created_at + ENDED_WITHIN_S:
                raise AssertionError(f"{run} has not ended: {item['status']}")

    def ended(self, run, item):
        del self.open[run.name]
        if item is None:
            why = None if run.deleted else "the object is gone"
            self.soak.tally.note(str(run), ("Cancelled", -1), why)
            return
        status = item["status"]
        end = (status["reason"], status.get("exitCode"))
        ends = run.program.ends + (LOST_WITH_A_PART if run.disturbed else ())
        why = differs(run.program, ends, end, status.get("stdout", ""))
        if why:
            why += f" ({status.get('message')})"
        self.soak.tally.note(str(run), end, why)
        if not run.deleted:
            self.api.delete(f"{RUNS_PATH}/{run.name}")

    def fly(self, runs, until=None):
        """Creates so many, AT_A_TIME at a time; ends with the last, or at until. Runs not begun."""
        while runs or self.open:
            while runs and len(self.open) < AT_A_TIME:
                self.create()
                runs -= 1
            if until and time.monotonic() >= until:
                break
            self.look()
            time.sleep(0.03)
        return runs

    # ---- parts and their ends

    def held(self):
        """What the parts hold while no run is on its way."""
        time.sleep(1.5)  # the agent's word about its node, and the helpers' last work
        found = {}
        for name, pid in (("node's agent", self.agent_pid()), ("node's jailer", self.jailer_pid()),
                          ("controller", self.controller_pid())):
            found[name] = {"descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                           "anonymous KiB": anonymous_kib(pid)}
        return found

    def kill(self, parts):
        for run in self.open.values():
            run.disturbed = True
        for process in parts:
            process.child.send_signal(signal.SIGKILL)
            self.soak.kills += 1

    def kill_controller(self):
        self.cluster.controller.kill()
        self.soak.kills += 1
        self.cluster.start_controller()

    def kill_agent(self):
        self.kill([self.node.agent])
        self.node.agent.child.wait(10)
        self.soak.nothing_runs_on("the agent was killed")
        self.node.start_agent()

    def kill_jailer(self):
        """The agent tells of its runs, and ends as well; a kubelet starts both anew."""
        self.kill([self.node.jailer])
        self.node.jailer.child.wait(10)
        self.soak.nothing_runs_on("the jailer was killed")
        if self.node.agent.child.wait(30) == 0:
            self.soak.unexpected("the agent that lost its jailer ended as if told to")
        self.restart_node()

    def kill_both(self):
        both = [self.node.jailer, self.node.agent]
        self.soak.chance.shuffle(both)
        self.kill(both)
        for process in both:
            process.child.wait(10)
        self.soak.nothing_runs_on("agent and jailer were killed")
        self.restart_node()

    def restart_node(self):
        if os.path.exists(self.node.socket):
            os.unlink(self.node.socket)  # else it would be taken for that of the next jailer
        self.node.start_jailer()
        if left := sandboxes_below(census.PARENT):
            self.soak.unexpected(f"the next start left {left}")
        self.node.start_agent()

    def kill_something(self):
        kinds = [self.kill_agent, self.kill_jailer, self.kill_both, self.kill_controller]
        self.soak.chance.choice(kinds)()

    def ready(self):
        wait_until("the node to be ready", self.node.ready, 60)


def run(soak, runs):
    with ClusterPart(soak) as part:
        warm_up = min(runs // 4, 150)
        steady = (runs - warm_up) // 2
        part.fly(warm_up)
        before = part.held()
        part.fly(steady)
        for name, after in part.held().items():
            soak.same(name, before[name], after)
        left = runs - warm_up - steady
        while left > 0:
            left = part.fly(left, time.monotonic() + soak.chance.uniform(0.05, MAX_LIFE_OF_PARTS_S))
            part.kill_something()
            part.ready()
        part.fly(0)
        spool(soak, part)
    if not parent_is_gone(census.PARENT):
        soak.unexpected("the node that was stopped in order left its cgroups")


def spool(soak, part):
    """Results leave the spool when the API server has them."""
    if not soak.wait_for("an empty spool", lambda: not records(part.node.spool), 30):
        soak.unexpected(f"in the spool: {records(part.node.spool)}")


def records(directory):
    """All but the list of the agents that have used the spool, which is bounded and stays."""
    return [name for _, _, names in os.walk(directory) for name in names if name != "instances"]
