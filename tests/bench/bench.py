# SPDX-License-Identifier: Apache-2.0
"""All figures of tests/bench/run.sh, which builds what is measured and starts this."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import api
import egress
import memory
import page
import plot
import stages
import table
from helpers.local import ROOT, RUNTIMES, program
from node import Node

# Of one part each: how much of it. A flood's window is in milliseconds.
FULL = {"rounds": 300, "idle_rounds": 75, "at_once": [1, 2, 8, 64], "window_ms": 10000,
        "stage_rounds": 200, "lock_rounds": 300, "runs": 200, "egress_rounds": 300,
        "downloads": 15, "alive": 4}
QUICK = {"rounds": 20, "idle_rounds": 6, "at_once": [1, 2, 8], "window_ms": 250,
         "stage_rounds": 25, "lock_rounds": 40, "runs": 25, "egress_rounds": 30,
         "downloads": 3, "alive": 2}
# What a test of the bench itself asks for.
SMALLEST = QUICK | {"rounds": 2, "idle_rounds": 1, "at_once": [2], "window_ms": 1000,
                    "stage_rounds": 3, "alive": 1}
PEERS = ("bubblewrap", "crun", "runc", "runsc", "podman", "nsjail", "isolate")
# A program that is looked at while it sleeps does so for as many seconds.
ALIVE_SECONDS = 1


def note(text):
    print(f"bench: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def measure_rows(sizes, only):
    """Rows of all contenders, and the stages of our own."""
    node = Node(only)
    try:
        note("runs one at a time")
        node.measure_latency("latency", sizes["rounds"], 0)
        note("runs one at a time, each after 100 ms in which nothing happens")
        node.measure_latency("after_idle", sizes["idle_rounds"], 100)
        note("runs at once")
        node.measure_floods(sizes["at_once"], sizes["window_ms"])
        note("memory of a sandbox")
        found = memory.measure(node.present(), node.dir, node.hide, sizes["alive"], ALIVE_SECONDS)
        for name, figures in found.items():
            node.rows[name]["memory"] = figures
        note("stages of a run")
        parts = stages.measure(node, sizes["stage_rounds"])
        node.add_ratios()
        return node.rows, parts
    finally:
        shutil.rmtree(node.dir, ignore_errors=True)


def most_per_second(row):
    floods = row.get("at_once", {}).values()
    return max((flood["runs_per_s"] or 0 for flood in floods), default=0)


def rounded(number, other):
    return round(number / other, 4) if other else None


def summarise(rows):
    """The figures that stand for the whole, by their names."""
    figures = {}
    for name in ("bare", "bubblewrap", "cold"):
        for kind, prefix in (("latency", ""), ("after_idle", "quiet_")):
            if kind in rows.get(name, {}):
                figures[f"{prefix}{name}_ms"] = rows[name][kind]["end_ms"]["p50"]
                figures[f"{prefix}{name}_p99_ms"] = rows[name][kind]["end_ms"]["p99"]
                if name != "bare":
                    figures[f"{prefix}{name}_over_bare"] = rows[name][kind].get("end_over_bare")
    kind = next((name for name in ("forked", "fresh") if "latency" in rows.get(name, {})), None)
    if kind:
        warm = rows[kind]
        figures |= {
            "warm_kind": kind,
            "warm_output_p50_ms": warm["latency"]["output_ms"]["p50"],
            "warm_output_p99_ms": warm["latency"]["output_ms"]["p99"],
            "warm_output_over_bare_prestarted": warm["latency"].get("output_over_prestarted"),
            "warm_result_p50_ms": warm["latency"]["end_ms"]["p50"],
            "warm_result_p99_ms": warm["latency"]["end_ms"]["p99"],
            "warm_result_over_bare_prestarted": warm["latency"].get("end_over_prestarted"),
            "warm_private_kib": warm.get("memory", {}).get("waiting", {}).get("private_kib"),
            "runs_per_s": most_per_second(warm),
        }
        best = max((name for name in PEERS if most_per_second(rows.get(name, {})) > 0),
                   key=lambda name: most_per_second(rows[name]), default=None)
        if best:
            figures["best_peer"] = best
            figures["best_peer_runs_per_s"] = most_per_second(rows[best])
            figures["throughput_over_best_peer"] = rounded(figures["runs_per_s"],
                                                           figures["best_peer_runs_per_s"])
    return figures


def measure_locks(rounds):
    done = subprocess.run([program("bench_locks"), RUNTIMES, "python3.12", str(rounds)],
                          stdout=subprocess.PIPE, text=True, check=True)
    locks = json.loads(done.stdout)
    figures = {"plain_clone_us": locks["plain_clone"]["median"]}
    for step in locks["network_made_ahead"]:
        name = f"lock_{step['lock'].replace('-', '_')}_us"
        figures[name] = round(figures.get(name, 0) + step["median"], 1)
    return figures


def machine():
    with open("/proc/meminfo", encoding="ascii") as file:
        memory_kib = int(file.readline().split()[1])
    return {"cpus": os.cpu_count(), "memory_mib": memory_kib >> 10,
            "kernel": os.uname().release, "load": round(os.getloadavg()[0], 2)}


def measure(options):
    sizes = SMALLEST if options.smallest else QUICK if options.quick else FULL
    figures = {"rounds": sizes["rounds"], "machine": machine()}
    rows, parts = measure_rows(sizes, options.only)
    figures |= summarise(rows)
    if not options.only:
        note("the locks of a jail")
        figures |= measure_locks(sizes["lock_rounds"])
        note("ToolCall")
        figures |= egress.measure(sizes["egress_rounds"], sizes["downloads"])
        note("through the API server")
        figures |= api.measure(sizes["runs"])
    figures["rows"] = rows
    figures["stages"] = parts
    return figures


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--smallest", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--only", metavar="NAME,...", type=lambda text: text.split(","))
    options = parser.parse_args()
    figures = measure(options)
    if options.plot:
        write(options.plot, plot.draw(figures["rows"]))
    if options.publish:
        write(os.path.join(ROOT, "docs/bench.svg"), plot.draw(figures["rows"]))
        write(os.path.join(ROOT, "docs/benchmark.md"), page.draw(figures))
    if options.json:
        print(json.dumps(figures))
    else:
        print(table.draw(figures))


if __name__ == "__main__":
    main()
