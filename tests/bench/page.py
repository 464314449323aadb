# SPDX-License-Identifier: Apache-2.0
"""The figures of the bench as docs/benchmark.md."""

HEAD = """# Benchmark

Written by `sudo tests/bench/run.sh --peers --publish`, which anyone can run; `--quick` takes a
minute, `--json` prints all figures as one object. {machine}

Every contender runs the same program, `print(1)`, with the interpreter of the same root file
system. They take turns within each round, in an order drawn anew, so that the drift of a machine
hits all alike: compare the figures of one table with each other, not with those of another run. The
client is one C program for all ([tests/bench/node](../tests/bench/node)).

- *bare interpreter*: `python3 -I -c`, no lock at all. *Started ahead*: one that has waited on a pipe,
  reads its code, runs it, flushes, and ends by `_exit`. These are the floors of what is cold and warm.
- *SandboxRun*: the agent's run code with a jailer, all locks and limits on; from the request until
  nothing of the sandbox is left and its result is known. *Warm, fresh* waits as an interpreter of its
  own; *warm, forked* as a fork of a template. {forked}
- crun, runc and podman have the limits of this project's profile, crun and runc its list of system
  calls too; bubblewrap has neither. None of them has a network. nsjail and isolate take part where
  they are installed.

![Latency and throughput](bench.svg)
"""

LATENCY = """
## One run

Milliseconds, from the request to the first byte of output, and to the result (a peer's process
reaped). The ratio is of the medians to the result, over the bare interpreter's.
"""

IDLE = """
Each after 100 ms in which nothing happened, as a single request on a quiet node finds it:
"""

FLOODS = """
## Runs per second

So many at once, each followed by the next. Sandboxes that wait are made again meanwhile, which takes
its part of the processors; the share of runs that found one is in brackets. CPU is what one run at a
time costs in all, its making included, in milliseconds; what the kernel does on its own later, such
as the end of a network namespace, is not in it.
"""

MEMORY = """
## Memory of a sandbox

KiB: private to its processes, and with its part of what is shared (PSS). Of the peers all processes
of the sandbox count; what is there once for all sandboxes does not.
"""

STAGES = """
## Stages of a run

Microseconds, median. What each stage is: [where the time goes](where-the-time-goes.md).
"""

PATH = """
## Through the API server

One run at a time, from before its creation until a watch shows it finished; milliseconds. The floor
is the same three writes and watch hops by a client that does nothing else, in turn with the runs.
"""


def table(heading, rows):
    lines = ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def quantiles(figures):
    return [f"{figures[q]:.2f}" for q in ("p50", "p95", "p99")]


def latency_table(rows, kind):
    found = [row for row in rows.values() if kind in row]
    heading = ["", "output p50", "p95", "p99", "result p50", "p95", "p99", "over bare", "over started ahead"]
    return table(heading, [
        [row["title"], *quantiles(row[kind]["output_ms"]), *quantiles(row[kind]["end_ms"]),
         ratio(row[kind].get("end_over_bare")), ratio(row[kind].get("end_over_prestarted"))]
        for row in found])


def ratio(value):
    return "" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def flood_table(rows):
    sizes = list(dict.fromkeys(size for row in rows.values() for size in row.get("at_once", {})))
    found = []
    for row in rows.values():
        if floods := row.get("at_once"):
            cells = [flood_cell(floods.get(size)) for size in sizes]
            found.append([row["title"], *cells, f"{next(iter(floods.values()))['cpu_ms_per_run']:.1f}"])
    return table(["", *sizes, "CPU"], found)


def flood_cell(flood):
    if not flood or flood["runs_per_s"] is None:
        return ""
    share = f" ({flood['warm_share']:.0%})" if "warm_share" in flood else ""
    return f"{flood['runs_per_s']:.0f}{share}"


def memory_table(rows):
    def cells(used):
        return [used["private_kib"], used["proportional_kib"]] if used else ["", ""]

    return table(["", "waiting: private", "PSS", "running: private", "PSS"], [
        [row["title"], *cells(row["memory"].get("waiting")), *cells(row["memory"].get("running"))]
        for row in rows.values() if "failed" not in row.get("memory", {"failed": ""})])


def stage_table(rows, parts):
    names = list(dict.fromkeys(stage for stages in parts.values() for stage in stages))
    return table(["", *(rows[name]["title"] for name in parts)], [
        [stage, *(stages.get(stage, {}).get("p50_us", "") for stages in parts.values())]
        for stage in names])


def path_table(figures):
    rows = []
    for title, prefix in (("create → Finished", "create_to_finished"),
                          ("the floor", "create_to_finished_floor")):
        rows.append([title, *(f"{figures[f'{prefix}_{q}_ms']:.1f}" for q in ("p50", "p95", "p99"))])
    for stage, title in (("assign", "until assigned"), ("start", "until started"),
                         ("run", "the run"), ("write_back", "until the result was seen")):
        rows.append([title, f"{figures[f'stage_{stage}_p50_ms']:.1f}", "",
                     f"{figures[f'stage_{stage}_p99_ms']:.1f}"])
    return [*table(["", "p50", "p95", "p99"], rows), "",
            f"{figures['create_to_finished_over_floor']:.2f} times the floor, with a pool of "
            f"{figures['create_to_finished_pool']} sandboxes."]


def draw(figures):
    rows, machine = figures["rows"], figures["machine"]
    missing = [f"- {row['title']}: {row['missing']}" for row in rows.values() if "missing" in row]
    text = HEAD.format(
        machine=f"These are of a virtual machine with {machine['cpus']} CPUs, Linux "
                f"{machine['kernel'].split('-')[0]}, load {machine['load']} when it began.",
        forked="" if "latency" in rows.get("forked", {}) else "(The latter was not offered.)")
    lines = [text.rstrip()]
    for title, part in ((LATENCY, latency_table(rows, "latency")),
                        (IDLE, latency_table(rows, "after_idle")),
                        (FLOODS, flood_table(rows)), (MEMORY, memory_table(rows)),
                        (STAGES, stage_table(rows, figures["stages"]))):
        lines += [title.rstrip(), "", *part]
    if "create_to_finished_over_floor" in figures:
        lines += [PATH.rstrip(), "", *path_table(figures)]
    if missing:
        lines += ["", "## Not measured", "", *missing]
    return "\n".join(line.rstrip() for line in lines) + "\n"
