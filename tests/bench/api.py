# SPDX-License-Identifier: Apache-2.0
"""Create -> Finished through a real API server, one run at a time, and idle memory.

The client is tests/controlplane/cmd/loadgen with -path: the clock starts before the POST and stops
when its watch shows the condition. In turn with each run it sends one of which it makes the other
two writes itself, from watches of its own, which is the floor of the path: the same writes and
watch hops, and nothing else. The stages of a real run: until the watch shows it assigned, started in
the jail, completed (both by its status), and seen.
"""

import json
import subprocess

import contenders as who
from figures import quantile
from helpers.cluster import NAMESPACE, Cluster, Node

STAGES = {"assign": (None, "assigned_ms"), "start": ("assigned_ms", "started_ms"),
          "run": ("started_ms", "completed_ms"), "write_back": ("completed_ms", "total_ms")}


def memory(pid):
    found = {}
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss", "Anonymous"):
                found[name] = int(rest.split()[0])
    return found


def idle_memory(cluster):
    node = cluster.nodes[0]
    figures = {}
    for name, pid in (("controller", cluster.controller.pid), ("agent", node.agent.pid),
                      ("jailer", node.jailer.pid)):
        used = memory(pid)
        figures[f"{name}_rss_kib"] = used["Rss"]
        figures[f"{name}_pss_kib"] = used["Pss"]
        figures[f"{name}_anonymous_kib"] = used["Anonymous"]
    return figures


def send_runs(cluster, runs):
    """The samples of loadgen by kind: of real runs and of the floor's."""
    plane = cluster.plane
    done = subprocess.run(
        [plane.program("loadgen"), "--kubeconfig", plane.kubeconfig(), "--controller-kubeconfig",
         cluster.controller_kubeconfig, "--system-namespace", NAMESPACE, "--path", str(runs)],
        stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"loadgen ended with status {done.returncode}")
    samples = {"run": [], "floor": []}
    for line in done.stdout.splitlines():
        sample = json.loads(line)
        samples[sample["kind"]].append(sample)
    return samples


def path_figures(samples):
    figures = {"create_to_finished_runs": len(samples["run"])}
    for kind, prefix in (("run", "create_to_finished"), ("floor", "create_to_finished_floor")):
        totals = [sample["total_ms"] for sample in samples[kind]]
        for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            figures[f"{prefix}_{name}_ms"] = round(quantile(totals, q), 3)
    figures["create_to_finished_over_floor"] = round(
        figures["create_to_finished_p50_ms"] / figures["create_to_finished_floor_p50_ms"], 3)
    for stage, (begin, end) in STAGES.items():
        values = [run[end] - (run[begin] if begin else 0) for run in samples["run"]]
        figures[f"stage_{stage}_p50_ms"] = round(quantile(values, 0.5), 3)
        figures[f"stage_{stage}_p99_ms"] = round(quantile(values, 0.99), 3)
    return figures


def measure(runs):
    """All figures of the path, on a node whose pool is as the chart has it."""
    cluster = Cluster()
    try:
        cluster.start(nodes=())
        node = Node(cluster, "node-a", who.pool(who.warm_kind()))
        cluster.nodes.append(node)
        node.start()
        figures = idle_memory(cluster)
        figures |= path_figures(send_runs(cluster, runs))
        figures["create_to_finished_pool"] = who.warm_kind()
        return figures
    finally:
        cluster.stop()
