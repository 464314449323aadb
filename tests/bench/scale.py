# SPDX-License-Identifier: Apache-2.0
"""The control plane at its sizes: the controller and a real API server, under a load without jails.

The load (tests/controlplane/cmd/loadgen) speaks to the API server as users and node agents do: each
agent has a token, connection, SandboxNode, renewed Lease and watch of its own; a run that it is
assigned takes 20 ms. kube-apiserver and etcd are one process here, and so are their figures; the
load's own CPU is in none.

Two parts, in this order, on one API server:

fan-out, for each number of agents. Short runs at --rate, each assigned by the bench's own writer
  and told to its agent in one of two ways that take turns: by the agent's watch of all runs with a
  field selector on its node, as SandboxRun does it ("watch"), or by a small object of the node that
  the agent watches by name, from which it learns what to read ("hint").

sizes, for each number of objects, with the greatest number of agents. Runs are created, then all
  at once assigned: by the controller and by the bare writer, which take turns with equal batches.
  Agents hold what they get until the batch is over. Then, with so many objects there, short runs at
  --rate through the controller.

--json prints one object:
  agents             the greatest number
  rate               short runs a second
  fanout.AGENTS.WAY  of each number of agents, WAY is watch or hint:
    apiserver_cpu_ms_per_run      above what the idle agents cost; both turns, and their mean
    requests_per_run              of sandboxruns and hints, but for lists, watches and 429
    node_status_writes_per_run    the agents' accounts of what is allocated
    created_to_assigned_p50_ms, _p99_ms, created_to_finished_p50_ms, _p99_ms
  fanout_fit         cpu ms per run = base + per_agent_us * agents / 1000, of the watches
  apiserver_idle_cpu_percent.AGENTS   of one core: heartbeats of so many agents
  sizes.OBJECTS      of each number of objects:
    assignments_per_s, writes_per_s_of_bare_writer   medians of the turns
    assignments_over_bare         median over pairs of turns
    controller_cpu_s_per_1000_assignments, apiserver_cpu_s_per_1000_assignments
                                  from the first assignment to the last, above idle
    controller_idle_cpu_percent   of one core: heartbeats of all agents
    controller_cpu_ms_per_run, apiserver_cpu_ms_per_run   of the short runs
    controller_rss_kib, _pss_kib, _anonymous_kib, _peak_kib; apiserver_rss_kib, _anonymous_kib
    requests_per_run, node_status_writes_per_run, conflicts
    refused                       answers 429 (flow control), tried again by the load
    watches_ended                 by the API server, which does that to watchers that lag
    created_to_assigned_p50_ms, _p99_ms, created_to_finished_p50_ms, _p99_ms
  assignments_per_s, writes_per_s_of_bare_writer, created_to_..., controller_rss_kib,
  requests_per_run   by number of objects, once more
  controller_bytes_per_object   growth of its resident memory between the two largest sizes
"""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from helpers.cluster import BIN, NAMESPACE, ROOT, UID, Process, free_port, http_get
from helpers.controlplane import ControlPlane
from helpers.wait import wait_until

FINISHED_KEPT = "1000000"
# Until what was assigned last has come back by the watches, which of few runs is a good part.
SETTLED_S = 0.5
# By number of objects, at the top of the result as well.
SUMMARY = ("assignments_per_s", "writes_per_s_of_bare_writer", "created_to_assigned_p50_ms",
           "created_to_assigned_p99_ms", "created_to_finished_p50_ms",
           "created_to_finished_p99_ms", "controller_rss_kib", "requests_per_run")
LATENCIES = ("created_to_assigned_p50_ms", "created_to_assigned_p99_ms",
             "created_to_finished_p50_ms", "created_to_finished_p99_ms")
# Runs that are assigned in one turn, and pairs of turns; small turns say little, so there are more.
MAX_BATCH = 500
MIN_PAIRS, MAX_PAIRS, PAIRED_RUNS = 2, 8, 200
REQUESTS = re.compile(r"^apiserver_request_total\{([^}]*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def thread_cpu_seconds(pid):
    """Of a process with one thread: in nanoseconds where the kernel counts so."""
    try:
        with open(f"/proc/{pid}/schedstat") as schedstat:
            return int(schedstat.read().split()[0]) / 1e9
    except FileNotFoundError:
        return cpu_seconds(pid)


def memory(pid, prefix):
    found = {}
    for path in (f"/proc/{pid}/smaps_rollup", f"/proc/{pid}/status"):
        with open(path) as lines:
            for line in lines:
                name, _, rest = line.partition(":")
                if name in ("Rss", "Pss", "Anonymous", "VmHWM"):
                    found[name] = int(rest.split()[0])
    return {f"{prefix}_rss_kib": found["Rss"], f"{prefix}_pss_kib": found["Pss"],
            f"{prefix}_anonymous_kib": found["Anonymous"], f"{prefix}_peak_kib": found["VmHWM"]}


# Shares of one core.
Idle = collections.namedtuple("Idle", "server controller")
# One batch of assignments; CPU in seconds.
Turn = collections.namedtuple("Turn", "runs seconds per_second server controller")


class Load:
    """The load program: a command, then its answers until the one that says it is done."""

    def __init__(self, plane, controller_kubeconfig):
        self.child = subprocess.Popen(
            [plane.program("loadgen"), "--kubeconfig", plane.kubeconfig(),
             "--controller-kubeconfig", controller_kubeconfig, "--system-namespace", NAMESPACE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def command(self, name, on_event=None, **arguments):
        self.child.stdin.write(json.dumps({"command": name, **arguments}) + "\n")
        self.child.stdin.flush()
        for line in self.child.stdout:
            answer = json.loads(line)
            if answer.get("done"):
                return answer
            if on_event:
                on_event()
        raise SystemExit(f"the load program ended with status {self.child.wait()} in '{name}'")

    def stop(self):
        self.child.stdin.close()
        self.child.wait(60)


class Bench:
    def __init__(self, options):
        self.options = options
        self.dir = tempfile.mkdtemp(prefix="sandboxrun-scale-")
        os.chmod(self.dir, 0o755)
        # What kube-controller-manager does is none of the API server's cost.
        self.plane = ControlPlane(os.path.join(self.dir, "plane"), controllers=False)
        self.kubeconfig = os.path.join(self.dir, "controller.kubeconfig")
        self.load = None
        self.controller = None
        self.objects = 0
        self.began = time.monotonic()

    # ---- the parts

    def start(self):
        self.plane.start()
        for path in (["-k", os.path.join(ROOT, "manifests")],
                     ["-f", os.path.join(ROOT, "tests/bench/scale-hint.yaml")]):
            self.plane.kubectl("apply", *path)
        self.plane.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
        self.plane.service_account_kubeconfig(f"{NAMESPACE}/sandboxrun-controller",
                                              self.kubeconfig)
        self.controller_program = shutil.copy(os.path.join(BIN, "sandboxrun-controller"), self.dir)
        if os.geteuid() == 0:
            os.chown(self.kubeconfig, UID, UID)
        self.load = Load(self.plane, self.kubeconfig)

    def stop(self):
        self.stop_controller()
        if self.load:
            self.load.stop()
        self.plane.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def start_controller(self, wait=True):
        port = free_port()
        self.controller = Process(
            "controller",
            [self.controller_program, "--leader-elect=false", "--kubeconfig", self.kubeconfig,
             "--lease-namespace", NAMESPACE, "--log-level", "warn",
             "--health-address", f"127.0.0.1:{port}",
             # All objects stay: deleting old ones would be a request more for each new one.
             "--max-finished-runs", FINISHED_KEPT,
             "--max-finished-runs-per-namespace", FINISHED_KEPT],
            self.dir, uid=UID if os.geteuid() == 0 else None)
        if wait:
            wait_until("the controller to be ready", lambda: self.controller_is_ready(port))

    def controller_is_ready(self, port):
        if not self.controller.alive():
            raise SystemExit(f"the controller ended: {self.controller.log()}")
        try:
            return http_get(f"http://127.0.0.1:{port}/readyz")[0] == 200
        except OSError:
            return False

    def stop_controller(self):
        if self.controller:
            self.controller.stop()
        self.controller = None

    # ---- what is measured

    def requests(self):
        """What the API server has answered so far: of runs and hints, and of SandboxNodes."""
        runs = nodes = 0
        metrics = self.plane.kubectl("get", "--raw", "/metrics").stdout
        for labels, value in REQUESTS.findall(metrics):
            label = dict(LABEL.findall(labels))
            if label["verb"] in ("WATCH", "LIST") or label["code"] == "429":
                continue
            if label["resource"] in ("sandboxruns", "assignmenthints"):
                runs += float(value)
            elif label["resource"] == "sandboxnodes":
                nodes += float(value)
        return runs, nodes

    def flow(self, assigner, idle):
        """Short runs; the CPU that they take is without what the agents cost when idle."""
        count = self.options.flow
        requests, nodes = self.requests()
        began, server, controller = time.monotonic(), self.server_cpu(), self.controller_cpu()
        answer = self.load.command("flow", count=count, rate=self.options.rate, assigner=assigner)
        seconds = time.monotonic() - began
        server = self.server_cpu() - server - idle.server * seconds
        figures = {"apiserver_cpu_ms_per_run": round(server * 1000 / count, 2)}
        if self.controller:
            controller = self.controller_cpu() - controller - idle.controller * seconds
            figures["controller_cpu_ms_per_run"] = round(controller * 1000 / count, 3)
        requests_after, nodes_after = self.requests()
        figures["requests_per_run"] = round((requests_after - requests) / count, 3)
        figures["node_status_writes_per_run"] = round((nodes_after - nodes) / count, 3)
        figures |= {name: answer[name] for name in ("conflicts", "refused", "watches_ended")}
        figures |= {name: round(answer[name], 1) for name in LATENCIES}
        self.objects += count
        return figures

    def idle_cpu(self):
        """Shares of one core: agents that have nothing but heartbeats."""
        began, server, controller = time.monotonic(), self.server_cpu(), self.controller_cpu()
        time.sleep(self.options.idle)
        seconds = time.monotonic() - began
        return Idle((self.server_cpu() - server) / seconds,
                    (self.controller_cpu() - controller) / seconds)

    def server_cpu(self):
        return cpu_seconds(self.plane.pid)

    def controller_cpu(self):
        return thread_cpu_seconds(self.controller.pid) if self.controller else 0.0

    def fan_out(self, agents):
        turns = {"watch": [], "hint": []}
        for way in ("watch", "hint") * 2:
            self.say(f"{agents} agents, {way}")
            self.load.command("agents", count=agents, hint=way == "hint")
            idle = self.idle_cpu()
            turns[way].append((self.flow("writer", idle), idle.server))
        figures = {}
        for way, measured in turns.items():
            flows = [flow for flow, _ in measured]
            figures[way] = {name: round(statistics.mean(flow[name] for flow in flows), 3)
                            for name in flows[0]}
            figures[way]["apiserver_cpu_ms_per_run_turns"] = [flow["apiserver_cpu_ms_per_run"]
                                                              for flow in flows]
        idle = statistics.mean(idle for measured in turns.values() for _, idle in measured)
        return figures, round(idle * 100, 1)

    def batch(self, count, assigner):
        """Creates count runs and has them assigned; the figures of the assignments."""
        self.objects += self.load.command("create", count=count)["runs"]
        first = {}

        def at_first():
            first.update(server=self.server_cpu(), controller=self.controller_cpu())

        if assigner == "controller":
            self.start_controller(wait=False)
        answer = self.load.command("assign", at_first, assigner=assigner)
        time.sleep(SETTLED_S)
        turn = Turn(answer["runs"], answer["seconds"] + SETTLED_S, answer["per_second"],
                    self.server_cpu() - first["server"],
                    self.controller_cpu() - first["controller"])
        self.stop_controller()
        self.load.command("finish")
        return turn

    def fill(self, count):
        """Makes finished runs until there are count objects, or deletes as many."""
        if self.objects < count:
            made = self.load.command("create", count=count - self.objects)["runs"]
            self.load.command("end")
            self.objects += made
        elif self.objects > count:
            self.objects -= self.load.command("delete", count=self.objects - count)["runs"]

    def size(self, objects):
        batch = min(objects // 4, MAX_BATCH)
        pairs = self.options.pairs or min(max(PAIRED_RUNS // batch, MIN_PAIRS), MAX_PAIRS)
        turns = {"controller": [], "writer": []}
        for pair in range(pairs):
            # What one turn leaves to do falls on the next: each goes first as often.
            for assigner in sorted(turns, reverse=pair % 2 == 1):
                self.say(f"{objects} objects, {assigner}, turn {pair + 1} of {pairs}")
                self.fill(objects - batch)
                turns[assigner].append(self.batch(batch, assigner))
        rates = {assigner: [turn.per_second for turn in measured]
                 for assigner, measured in turns.items()}
        figures = {
            "assignments_per_s": round(statistics.median(rates["controller"]), 1),
            "writes_per_s_of_bare_writer": round(statistics.median(rates["writer"]), 1),
            "assignments_over_bare": round(statistics.median(
                a / b for a, b in zip(rates["controller"], rates["writer"])), 3),
        }
        self.fill(objects)
        self.start_controller()
        self.say(f"{objects} objects, short runs")
        # What came before still keeps the server busy for a while.
        time.sleep(self.options.idle)
        idle = self.idle_cpu()
        figures["controller_idle_cpu_percent"] = round(idle.controller * 100, 2)
        for name in ("controller", "server"):
            figures[f"{name}_cpu_s_per_1000_assignments".replace("server", "apiserver")] = round(
                statistics.median((getattr(turn, name) - getattr(idle, name) * turn.seconds) *
                                  1000 / turn.runs for turn in turns["controller"]), 3)
        figures |= self.flow("controller", idle)
        figures |= memory(self.controller.pid, "controller")
        server = memory(self.plane.pid, "apiserver")
        figures |= {name: server[name] for name in ("apiserver_rss_kib",
                                                    "apiserver_anonymous_kib")}
        self.stop_controller()
        return figures

    def say(self, text):
        if not self.options.json:
            passed = time.monotonic() - self.began
            print(f"scale: {passed:4.0f} s: {text}", file=sys.stderr, flush=True)

    def run(self):
        options = self.options
        result = {"agents": max(options.agents), "rate": options.rate, "fanout": {}, "sizes": {},
                  "apiserver_idle_cpu_percent": {}}
        # A server that has just started compiles, and fills its caches.
        self.say("warming up")
        self.load.command("agents", count=options.agents[0], hint=False)
        self.flow("writer", Idle(0, 0))
        for agents in options.agents:
            result["fanout"][agents], idle = self.fan_out(agents)
            result["apiserver_idle_cpu_percent"][agents] = idle
        self.load.command("agents", count=max(options.agents), hint=False)
        result["fanout_fit"] = fit(result["fanout"])
        for objects in options.objects:
            result["sizes"][objects] = self.size(objects)
        for name in SUMMARY:
            result[name] = {objects: size[name] for objects, size in result["sizes"].items()}
        if len(options.objects) > 1:
            small, large = options.objects[-2:]
            rss = result["controller_rss_kib"]
            result["controller_bytes_per_object"] = round(
                (rss[large] - rss[small]) * 1024 / (large - small))
        return result


def fit(fanout):
    """Least squares of the watches' CPU over the number of agents."""
    points = [(agents, ways["watch"]["apiserver_cpu_ms_per_run"])
              for agents, ways in fanout.items()]
    if len(points) < 2:
        return None
    slope, base = statistics.linear_regression(*zip(*points))
    return {"base_ms": round(base, 2), "per_agent_us": round(slope * 1000, 2)}


def numbers(text):
    values = sorted(int(part) for part in text.split(","))
    if values[0] < 1:
        raise ValueError
    return values


def print_figures(result, prefix=""):
    for name, value in result.items():
        if isinstance(value, dict):
            print_figures(value, f"{prefix}{name}.")
        else:
            print(f"{prefix + str(name):60} {value}")


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, prog="tests/bench/scale.sh",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, no more")
    parser.add_argument("--quick", action="store_true",
                        help="10 and 100 agents, 100 and 1,000 objects; a minute if nothing else "
                             "keeps the machine busy")
    parser.add_argument("--agents", type=numbers, metavar="N,N,...",
                        help="numbers of agents (10,100,1000)")
    parser.add_argument("--objects", type=numbers, metavar="N,N,...",
                        help="numbers of objects, 8 or more (100,1000,10000)")
    parser.add_argument("--pairs", type=int, metavar="N",
                        help="pairs of turns, controller and bare writer (2 to 8; quick 2)")
    parser.add_argument("--flow", type=int, metavar="N",
                        help="short runs each time (200; quick 30)")
    parser.add_argument("--rate", type=float, default=25.0, metavar="N",
                        help="short runs a second (25)")
    parser.add_argument("--idle", type=float, metavar="SECONDS",
                        help="how long idle agents are measured each time (4; quick 1)")
    options = parser.parse_args(argv)
    quick = options.quick
    options.agents = options.agents or ([10, 100] if quick else [10, 100, 1000])
    options.objects = options.objects or ([100, 1000] if quick else [100, 1000, 10000])
    options.flow = options.flow or (30 if quick else 200)
    options.pairs = options.pairs or (MIN_PAIRS if quick else None)
    options.idle = options.idle or (1.0 if quick else 4.0)
    if options.objects[0] < 8 or options.flow < 1 or options.rate <= 0:
        parser.error("--objects are at least 8, --flow and --rate at least 1")
    return options


def main():
    options = parse()
    # So that what was started ends with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bench = Bench(options)
    try:
        bench.start()
        result = bench.run()
    finally:
        bench.stop()
    if options.json:
        print(json.dumps(result))
    else:
        print_figures(result)


if __name__ == "__main__":
    main()
