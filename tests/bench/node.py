# SPDX-License-Identifier: Apache-2.0
"""Runs of one program on one node, this project beside the bare interpreter and the peers."""

import collections
import json
import os
import subprocess
import tempfile

import contenders as who
from figures import summary
from helpers.local import program

CODE = "print(1)"
SLOW_EVERY = 4
# What a jailer logs that is to fork what waits, and can't.
NOT_FORKED = "can't be forked"


class Node:
    """The contenders of this machine, and what was measured of them by name."""

    def __init__(self, only=None):
        self.dir = tempfile.mkdtemp(prefix="sandboxrun-bench-")
        self.log_path = os.path.join(self.dir, "log")
        self.all = [*who.bare(), *who.own(), *who.peers(self.dir, CODE)]
        if only:
            self.all = [one for one in self.all if one.name in only]
        self.rows = {one.name: {"title": one.title} | ({"missing": one.missing} if one.missing else {})
                     for one in self.all}
        self.hide = who.hides_unified_cgroups()

    def present(self):
        return [one for one in self.all if "missing" not in self.rows[one.name]]

    def run(self, mode, *numbers, code=CODE, contenders=None, prefix=()):
        """What bench_node tells of those that are there; one that fails counts as missing."""
        lines = "\n".join(one.text(SLOW_EVERY) for one in contenders or self.present())
        with open(self.log_path, "wb") as log:
            done = subprocess.run(
                [*prefix, *self.hide, program("bench_node"), mode, code, *map(str, numbers)],
                input=lines, text=True, stdout=subprocess.PIPE, stderr=log, check=False)
        told = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            fields = json.loads(line)
            if "error" in fields:
                self.rows[fields["contender"]]["missing"] = fields["error"]
            else:
                told[fields["contender"]].append(fields)
        if done.returncode != 0 or not told:
            raise SystemExit(
                f"bench_node {mode} ended with status {done.returncode}: {self.log()[-2000:]}")
        # Then they are of the other kind, and no figures of this one.
        if "forked" in told and NOT_FORKED in self.log():
            del told["forked"]
            self.rows["forked"]["missing"] = "this machine does not allow it"
        return told

    def log(self):
        """What was said on stderr: by the jailers, and by peers that failed."""
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def measure_latency(self, name, rounds, pause_ms):
        for contender, runs in self.run("latency", rounds, pause_ms).items():
            warm = [run for run in runs if run.get("warm")]
            figures = {"runs": len(runs)}
            if warm:
                # A run that found none waiting was a cold one, and is no figure of a warm one.
                figures["cold_among_them"] = len(runs) - len(warm)
                runs = warm
            figures["output_ms"] = summary([run["output_ns"] for run in runs])
            figures["end_ms"] = summary([run["end_ns"] for run in runs])
            self.rows[contender][name] = figures

    def measure_floods(self, sizes, window_ms):
        for at_once in sizes:
            for contender, (flood,) in self.run("flood", at_once, window_ms).items():
                # None where not a single run ended within the window: that says nothing.
                per_second = round(flood["counted"] / flood["seconds"], 1) or None
                figures = {"runs_per_s": per_second,
                           "cpu_ms_per_run": round(flood["cpu_ns"] / max(flood["runs"], 1) / 1e6, 2)}
                if flood["warm"]:
                    figures["warm_share"] = round(flood["warm"] / flood["runs"], 3)
                self.rows[contender].setdefault("at_once", {})[str(at_once)] = figures

    def add_ratios(self):
        """Of each row's medians to those of the two floors."""
        for kind in ("latency", "after_idle"):
            for floor in ("bare", "prestarted"):
                base = self.rows.get(floor, {}).get(kind)
                for row in self.rows.values():
                    for edge in ("output_ms", "end_ms") if base and kind in row else ():
                        row[kind][f"{edge.removesuffix('_ms')}_over_{floor}"] = round(
                            row[kind][edge]["p50"] / base[edge]["p50"], 3)
