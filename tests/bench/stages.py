# SPDX-License-Identifier: Apache-2.0
"""Where the time of one run on a node goes, stage by stage.

The agent's side times what it sees, the program prints when its first line ran, the jailer's log
has how long it took to hand the sandbox over and to sweep it away, and the kernel (exit_trace.py)
when the processes began to end and were reaped. All clocks are the kernel's monotonic one. A stage
ends where the next one begins:

  hand_over      the request is sent, until the agent has the sandbox, its limits in force
    limits         of this, in the jailer: taking and limiting it; of a cold one, making it
  write          until the code is in its pipe
  interpreter    until the first line of the program runs
  output         until the agent has read the first byte of output
  leave          until the program's process begins to end
  teardown       until the kernel has taken it down, and process 1 is told
  reap           until process 1 has reaped it and begins to end itself
  process_1      until the kernel has taken that down with all namespaces, and the jailer is told
  wake           until the jailer runs
  sweep          until what it used is read and its cgroups are gone
  (the result is with the agent then)

Without tracefs the five from leave to wake are one, "end".
"""

import bisect
import collections
import json
import os

import contenders as who
from figures import quantile

CODE = "import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))"
EXIT, TOLD = "sched_process_exit", "signal_generate"
# What begins at which event of whom.
ENDS = [("teardown", EXIT, "python3"), ("reap", TOLD, "reaper"), ("process_1", EXIT, "reaper"),
        ("wake", TOLD, "sandboxrun-jail")]
WHOLE = ("hand_over", "limits", "write", "interpreter", "output", "sweep")
ORDER = (*WHOLE[:-1], "leave", *(stage for stage, _, _ in ENDS), "sweep")


def read_trace(path):
    """Times by (event, comm), in order."""
    times = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            at, event, comm = line.rstrip("\n").split(" ", 2)
            times[event, comm].append(int(at))
    return times


def read_log(path):
    """The jailer's line of each sandbox that is gone, by its id."""
    gone = {}
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            if '"sandbox gone"' in line:
                fields = json.loads(line)
                gone[fields["sandbox"]] = fields
    return gone


def marks_of(run, gone, trace):
    """(stage that begins there, time) of one run, in order of time."""
    begin, swept = run["from_ns"], run["from_ns"] + run["end_ns"] - gone["sweep_us"] * 1000
    ran, seen = int(run["output"]), begin + run["output_ns"]
    ends, at = [], ran
    for stage, event, comm in ENDS:
        times = trace[event, comm]
        index = bisect.bisect_left(times, at)
        if index == len(times) or times[index] > swept:
            ends = []
            break
        at = times[index]
        ends.append((stage, at))
    # The program can be through before the agent gets to read.
    last = [("leave", min(seen, ends[0][1])), *ends] if ends else [("end", seen)]
    return [("hand_over", begin), ("write", begin + run["created_ns"]),
            ("interpreter", begin + run["started_ns"]), ("output", ran), *last, ("sweep", swept),
            (None, begin + run["end_ns"])]


def stages_of(runs, log_path, trace_path):
    gone, trace = read_log(log_path), read_trace(trace_path)
    times = collections.defaultdict(list)
    for run in runs:
        if run["id"] not in gone:
            continue
        marks = marks_of(run, gone[run["id"]], trace)
        for (stage, begin), (_, end) in zip(marks, marks[1:]):
            times[stage].append((end - begin) / 1000)
        times["limits"].append(gone[run["id"]]["make_us"])
    # Of most runs it is known where their ends parted, or of none.
    parted = len(times["leave"]) > len(times["end"])
    names = [stage for stage in ORDER if times[stage] and (stage in WHOLE or parted)]
    if not parted:
        names.insert(names.index("sweep"), "end")
    return {stage: {"p50_us": round(quantile(times[stage], 0.5)),
                    "p99_us": round(quantile(times[stage], 0.99))} for stage in names}


def measure(node, rounds):
    """By contender of this project: its stages."""
    present = {one.name for one in node.present()}
    contenders = [one for one in who.own(log_level="info") if one.name in present]
    told = {}
    for contender in contenders:
        trace_path = os.path.join(node.dir, "trace")
        prefix = ["unshare", "--mount", "--propagation", "private", "python3",
                  os.path.join(os.path.dirname(__file__), "exit_trace.py"), trace_path]
        runs = node.run("latency", rounds, 0, code=CODE, contenders=[contender], prefix=prefix)
        # A run that found none waiting was a cold one.
        own_kind = [run for run in runs[contender.name] if run["warm"] == contender.pooled]
        if own_kind:
            told[contender.name] = stages_of(own_kind, node.log_path, trace_path)
    return told
