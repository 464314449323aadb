# SPDX-License-Identifier: Apache-2.0
"""Rounds of faults, each a test: runs are under way, something dies, is cut off or stops, and comes
back; then every run must have ended, none of them executed twice, no result lost.

FAULTS_SEED repeats a plan, FAULTS_TIMES sets how often each kind of fault is in it; with --full of
hack/test.sh, which sets SANDBOXRUN_TEST_FULL, it is 50. FAULTS_ONLY takes the kinds whose name has
these words, such as "kill agent".
"""

import collections
import os
import random
import secrets
import threading
import time
import unittest

import plan
from helpers.cgroup_tree import parent_is_gone
from helpers.controlplane import what_is_missing
from helpers.local import FULL
from helpers.steps import Step
from helpers.wait import wait_until
from runs import QUEUE_TIMEOUT_S, Runs
from world import LOST_S, NODES, PARENT, World

SHORT_TIMES, FULL_TIMES = 1, 50
AT_A_TIME = 12
LOOK_EVERY_S = 0.04

# The longest pause between an agent's attempts to write a result, and the attempt.
WRITTEN_WITHIN_S = 45

# After the last fault. A run whose agent has gone for good and whose node is alive has 40 s.
ENDED_WITHIN_S = QUEUE_TIMEOUT_S + LOST_S + 30


def times():
    return int(os.environ.get("FAULTS_TIMES", FULL_TIMES if FULL else SHORT_TIMES))


class Totals:
    def __init__(self):
        self.runs = 0
        self.twice, self.lost, self.stuck = [], [], []
        self.ends = collections.Counter()
        self.late = 0  # results
        self.slowest_s = 0.0


class Round:
    def __init__(self, world, chance, faults, totals):
        self.world, self.faults, self.totals = world, faults, totals
        faulty = collections.defaultdict(tuple)
        for fault in faults:
            if fault.kind.of_node:
                faulty[fault.target] += fault.kind.losses
        self.runs = Runs(world, chance, totals.runs, faulty)
        self.steps = sorted([(f.at_s, f.begin) for f in faults]
                            + [(f.at_s + f.for_s, f.end) for f in faults],
                            key=lambda step: step[0])
        self.failure = None

    def run(self, test):
        agents = {node.name: (node.agent, node.too_late()) for node in self.world.nodes}
        self.befall()
        over_at = time.monotonic()
        for node in NODES:
            self.runs.create(node)  # all work again
        self.settle(over_at)
        self.runs.judge()
        self.look_for_late(agents)
        self.tell(time.monotonic() - over_at)
        self.check(test)

    def befall(self):
        """Runs are created and looked at all the while."""
        cause = threading.Thread(target=self.cause, daemon=True)
        cause.start()
        while cause.is_alive() or not self.world.all_alive():
            self.turn(create=True)
        if self.failure:
            raise self.failure

    def cause(self):
        """Does the faults at their time, whoever waits for an answer meanwhile."""
        begin = time.monotonic()
        try:
            for at_s, step in self.steps:
                time.sleep(max(0.0, begin + at_s - time.monotonic()))
                step(self.world)
        except Exception as problem:
            self.failure = problem

    def turn(self, create):
        while create and len(self.runs.open()) < AT_A_TIME and self.runs.create().known:
            pass
        told = self.runs.look()
        time.sleep(LOOK_EVERY_S)
        return told

    def settle(self, since):
        while time.monotonic() < since + ENDED_WITHIN_S:
            # Until the API server has told of those whose creation it didn't answer.
            if self.turn(create=False) and not self.runs.open():
                return

    def look_for_late(self, agents):
        """An agent whose results came after NodeLost counts them."""
        for node in self.world.nodes:
            agent, before = agents[node.name]
            late = self.runs.late[node.name]
            if node.agent is not agent or before is None or not late:
                continue
            self.totals.late += late
            wait_until(f"{node.name} to count {late} results as too late",
                       lambda: (node.too_late() or 0) - before >= late, WRITTEN_WITHIN_S)
            if "dropping what came late" not in agent.log():
                self.runs.wrong.append(f"{node.name} logged nothing of {late} late results")

    def tell(self, settled_s):
        ends = collections.Counter(run.end["reason"] for run in self.runs.runs.values() if run.end)
        totals = self.totals
        totals.runs += len(self.runs.runs)
        totals.ends += ends
        totals.twice += self.runs.twice
        totals.lost += self.runs.lost
        totals.stuck += self.runs.stuck
        totals.slowest_s = max(totals.slowest_s, settled_s)
        print(f"{len(self.runs.runs)} runs, "
              f"{', '.join(f'{name} {count}' for name, count in ends.most_common())}; "
              f"settled after {settled_s:.1f} s ", end="")

    def check(self, test):
        runs = self.runs
        found = [f"{what}: {each}" for what, cases in
                 (("executed twice", runs.twice), ("result lost", runs.lost),
                  ("stuck", runs.stuck), ("wrong", runs.wrong)) for each in cases]
        test.assertEqual(found, [], "\n".join(found[:20]))
        runs.delete()


class FaultsSuite(unittest.TestSuite):
    def __init__(self):
        super().__init__()
        self.seed = os.environ.get("FAULTS_SEED") or secrets.token_hex(4)
        self.only = os.environ.get("FAULTS_ONLY", "")
        self.rounds = plan.make(random.Random(self.seed), times(), self.only)
        self.totals = Totals()

    def countTestCases(self):
        return len(self.rounds)

    def run(self, result, debug=False):
        why = "root to make jails" if os.geteuid() != 0 else what_is_missing()
        if why:
            Step("faults", lambda test: test.skipTest(f"needs {why}")).run(result)
            return result
        only = f"FAULTS_ONLY='{self.only}' " if self.only else ""
        print(f"seed {self.seed}, {len(self.rounds)} rounds; the same again: {only}"
              f"FAULTS_SEED={self.seed} FAULTS_TIMES={times()} ./hack/test.sh faults", flush=True)
        self.all_rounds(result)
        totals = self.totals
        ends = ", ".join(f"{name} {count}" for name, count in totals.ends.most_common())
        print(f"\nends: {ends}; {totals.late} results came after NodeLost; the slowest round "
              f"settled {totals.slowest_s:.1f} s after its last fault")
        result.last_words = (f"{totals.runs} runs, {len(totals.twice)} executed twice, "
                             f"{len(totals.lost)} results lost, {len(totals.stuck)} stuck")
        return result

    def all_rounds(self, result):
        world = World()
        try:
            world.start()
            chance = random.Random(f"runs of {self.seed}")
            for number, faults in enumerate(self.rounds):
                one = Round(world, chance, faults, self.totals)
                name = f"round {number + 1}: {', '.join(map(str, faults))}"
                Step(name, one.run).run(result)
                if result.failed():
                    break  # what comes after it would only repeat it
        finally:
            world.stop()
        Step("nothing is left", lambda test: wait_until("the cgroups to go",
             lambda: parent_is_gone(PARENT), 15)).run(result)
