# SPDX-License-Identifier: Apache-2.0
"""Runs the parts one after the other, each a test, and the census of the machine behind them.

SOAK_SEED repeats a plan, SOAK_RUNS sets the number of runs; with --full of hack/test.sh, which
sets SANDBOXRUN_TEST_FULL, it is 10,000.
"""

import os
import random
import secrets
import tempfile
import time
import unittest

import census
import cluster_part
import parts
from flights import Tally
from helpers.controlplane import what_is_missing
from helpers.local import FULL
from helpers.steps import Step

SHORT_RUNS, FULL_RUNS = 500, 10_000
STEADY_SHARE, POOLED_SHARE, KILLED_SHARE = 0.35, 0.2, 0.2  # and the rest through a cluster


def number_of_runs():
    return int(os.environ.get("SOAK_RUNS", FULL_RUNS if FULL else SHORT_RUNS))


class SoakSuite(unittest.TestSuite):
    def __init__(self):
        super().__init__()
        self.runs = number_of_runs()
        self.seed = os.environ.get("SOAK_SEED") or secrets.token_hex(4)
        self.tally = Tally()
        self.soak = parts.Soak(random.Random(self.seed), self.tally)

    def countTestCases(self):
        return 6

    def run(self, result, debug=False):
        if os.geteuid() != 0:
            Step("soak", lambda test: test.skipTest("needs root to make jails")).run(result)
            return result
        print(f"seed {self.seed}, {self.runs} runs; the same again: SOAK_SEED={self.seed} "
              f"SOAK_RUNS={self.runs} ./hack/test.sh soak", flush=True)
        census.become_subreaper()
        # What the tests make lies in one place, where the census looks for what they have left.
        with tempfile.TemporaryDirectory(prefix=census.OWN_PREFIX) as scratch:
            os.chmod(scratch, 0o755)
            tempfile.tempdir = scratch
            try:
                self.steps(result)
            finally:
                tempfile.tempdir = None
        result.last_words = (f"{self.tally.runs} runs, {len(self.tally.unexpected)} unexpected "
                             f"ends, {self.left} left behind")
        return result

    def steps(self, result):
        steady, pooled, killed = (int(self.runs * share) for share in (
            STEADY_SHARE, POOLED_SHARE, KILLED_SHARE))
        self.left = 0
        self.step("every program once", result, lambda: parts.every_program(self.soak))
        counted = census.Census(self.soak.orphans)
        # The first part has had its runs; the whole has the number that was asked for.
        steady = max(steady - self.tally.runs, 20)
        self.step("a jailer whose agents go", result, lambda: parts.steady(self.soak, steady))
        self.step("a jailer with a pool", result, lambda: parts.pooled(self.soak, pooled))
        self.step("jailers that are killed", result, lambda: parts.killed(self.soak, killed))
        self.cluster(result)
        Step("the machine as before", lambda test: self.compare(test, counted)).run(result)

    def cluster(self, result):
        name = "a node whose parts are killed"
        if missing := what_is_missing():
            Step(name, lambda test: test.skipTest(f"needs {missing}")).run(result)
            return
        left = max(self.runs - self.tally.runs, 20)
        self.step(name, result, lambda: cluster_part.run(self.soak, left))

    def step(self, name, result, function):
        """A part, which fails by what it has added to the unexpected."""
        def judge(test):
            before, runs, start = len(self.tally.unexpected), self.tally.runs, time.monotonic()
            try:
                function()
            except Exception as problem:
                self.tally.unexpected.append(f"the part broke off: {problem}")
                raise
            print(f"{self.tally.runs - runs} runs in {time.monotonic() - start:.1f} s ", end="")
            found = self.tally.unexpected[before:]
            test.assertEqual(found, [], "\n".join(found[:20]))
        Step(name, judge).run(result)

    def compare(self, test, counted):
        counted.settle()
        self.left = counted.count()
        ends = ", ".join(f"{name} {count}" for name, count in self.tally.ends.most_common())
        print(f"\n\n{counted.table()}")
        print("\n".join(self.soak.figures))
        print(f"\nends: {ends}")
        print(f"{self.tally.warm} runs had a sandbox that had waited")
        print(f"{self.soak.kills} times an agent or a part went at a random moment; the last "
              f"process of its sandboxes was gone {self.soak.slowest_s:.2f} s later at the latest "
              f"({census.GONE_WITHIN_S} s are allowed); {self.soak.swept} of {self.soak.starts} "
              "jailers that were started after a killed one had something of it to sweep")
        test.assertEqual([row.name for row in counted.left()], [], "left behind")
