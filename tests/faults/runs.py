# SPDX-License-Identifier: Apache-2.0
"""The runs of a round, and what must be true of each at its end.

Their programs leave a mark when they begin and one when they have said what they have to say.
"""

import collections
import http.client
import json
import time

from helpers.cgroup_tree import processes_by_sandbox
from helpers.cluster import TERMINAL, run_document
from helpers.marks import code_of
from helpers.wait import wait_until
from world import PARENT, TIMEOUT_S

PATH = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"

QUEUE_TIMEOUT_S = 60
# Many at once, and an API server that has just come back.
DELETED_WITHIN_S = 60
# What a killed process's sandboxes may take to go. Programs that don't end go on for TIMEOUT_S.
GONE_WITHIN_S = 2.0
# After its begin, whatever becomes of its jailer: that is stopped, and process 1 ends 3 s later.
OVER_WITHIN_S = TIMEOUT_S + 3.0 + 4.0

# Ends that say that a program has not run to its end, by no doing of its own.
PLATFORM_ENDS = ("JailerLost", "AgentRestarted", "NodeLost", "InternalError")
LOOP_SHARE, SLEEP_SHARE = 0.12, 0.75
LONGEST_S = 1.2


def _middle(chance):
    """What a program does between its marks."""
    draw = chance.random()
    if draw < LOOP_SHARE:
        return "while True:\n    pass\n"
    return f"time.sleep({chance.uniform(0, LONGEST_S):.3f})\n" if draw < SLEEP_SHARE else ""


class Run:
    def __init__(self, number, chance, node=None):
        self.name = f"fault-{number}"
        self.node = node
        self.nonce = f"{chance.getrandbits(64):016x}"
        self.what = _middle(chance) if node is None else ""
        self.created_at = time.monotonic()
        self.known = False  # to exist
        self.object = None  # as it was seen last
        self.begun_at = None
        self.ended_at = None
        self.end = None  # its status when it was first seen as over

    @property
    def begun(self):
        return f"{self.name}.begun"

    @property
    def done(self):
        return f"{self.name}.done"

    def document(self):
        code = (f"import os, time\n{code_of(self.begun)}{self.what}"
                f"print('{self.nonce}', flush=True)\n{code_of(self.done)}")
        spec = {"nodeSelector": {"kubernetes.io/hostname": self.node}} if self.node else {}
        return run_document(self.name, code, timeoutSeconds=TIMEOUT_S,
                            queueTimeoutSeconds=QUEUE_TIMEOUT_S,
                            resources={"limits": {"memory": "64Mi"}}, **spec)

    def see(self, item):
        self.known = True
        self.object = item
        if self.end is None and item["status"]["phase"] in TERMINAL:
            self.ended_at = time.monotonic()
            self.end = item["status"]

    @property
    def open(self):
        return self.known and self.end is None

    def __str__(self):
        return f"{self.name}: {json.dumps(self.object and self.object['status'])}"


class Runs:
    """Those of one round. faulty: by node, the reasons that its faults may give to runs."""

    def __init__(self, world, chance, first, faulty):
        self.world, self.chance, self.faulty = world, chance, faulty
        self.number = first
        self.runs = {}
        self.twice, self.lost, self.stuck, self.wrong = [], [], [], []
        self.ran_on = set()

    # ---- life

    def _ask(self, method, *args):
        """An answer, or None if there is none; what was asked may have happened."""
        try:
            return self.world.api.request(method, *args)
        except (OSError, http.client.HTTPException, ValueError):
            self.world.api.close()
            return None

    def create(self, node=None):
        run = Run(self.number, self.chance, node)
        self.number += 1
        self.world.marks.add(run.begun)
        self.world.marks.add(run.done)
        self.runs[run.name] = run
        answer = self._ask("POST", PATH, run.document())
        if answer and answer.accepted:
            run.see(answer.body)
        elif answer and answer.status < 500 and answer.status != 429:
            self.wrong.append(f"{run.name}: refused: {answer.message}")
        return run

    def open(self):
        return [run for run in self.runs.values() if run.open]

    def look(self):
        """Sees what has become of the runs; False if the API server doesn't tell."""
        answer = self._ask("GET", PATH)
        self.world.marks.take()
        self.world.spools.take()
        if answer is None or answer.status != 200:
            return False
        items = {item["metadata"]["name"]: item for item in answer.body["items"]}
        for name, run in self.runs.items():
            if name in items:
                run.see(items[name])
            elif run.known:
                run.known = False
                self.lost.append(f"{name}: the object is gone; it was {run.object['status']}")
        self.look_for_survivors()
        return True

    def look_for_survivors(self):
        """What lives in the sandbox of a run that is over, or should be."""
        now = time.monotonic()
        living = processes_by_sandbox(PARENT)
        for run in self.runs.values():
            if run.begun_at is None and self.world.marks.read[run.begun]:
                run.begun_at = now
            sandbox = run.object and run.object["status"].get("sandboxID")
            if (sandbox in living and run.begun_at and now > run.begun_at + OVER_WITHIN_S
                    and run.name not in self.ran_on):
                self.ran_on.add(run.name)
                self.wrong.append(f"{run}\n  {now - run.begun_at:.1f} s after its begin there "
                                  f"lived {living[sandbox]}")
            sandbox = run.end and run.end.get("sandboxID")
            if (sandbox in living and now > run.ended_at + GONE_WITHIN_S
                    and run.name not in self.ran_on):
                self.ran_on.add(run.name)
                self.wrong.append(f"{run}\n  {now - run.ended_at:.1f} s after its end there "
                                  f"lived {living[sandbox]}")

    def delete(self):
        def gone():
            self._ask("DELETE", PATH)
            answer = self._ask("GET", PATH)
            return answer is not None and answer.status == 200 and not answer.body["items"]
        wait_until("the runs to be deleted", gone, DELETED_WITHIN_S)
        for run in self.runs.values():
            self.world.marks.remove(run.begun)
            self.world.marks.remove(run.done)

    # ---- judgement

    def judge(self):
        for run in self.runs.values():
            executions = len(self.world.marks.read[run.begun])
            if executions > 1:
                self.twice.append(f"{run}\n  executed {executions} times")
            if run.open:
                self.stuck.append(str(run))
            elif run.end:
                self._judge_end(run, executions)
            elif executions:
                self.wrong.append(f"{run.name}: executed, and there is no such object")
        self.late = collections.Counter(
            run.end.get("nodeName") for run in self.runs.values()
            if run.end and run.end["reason"] == "NodeLost"
            and run.end.get("sandboxID") in self.world.spools.results)
        ids = {run.end.get("sandboxID") for run in self.runs.values() if run.end}
        self.lost += [f"sandbox {each} had a result, and no run names it"
                      for each in self.world.spools.results - ids]
        self.world.spools.results.clear()

    def _judge_end(self, run, executions):
        now, end = run.object["status"], run.end
        if now != end:
            self.wrong.append(f"{run}\n  was over already as {json.dumps(end)}")
        reason, node = end["reason"], end.get("nodeName")
        allowed = self.faulty.get(node, ())
        if reason == "Completed":
            if executions != 1 or end.get("stdout") != run.nonce + "\n":
                self.wrong.append(f"{run}\n  executed {executions} times, its nonce {run.nonce}")
        elif reason in PLATFORM_ENDS:
            if reason not in allowed:
                self.wrong.append(f"{run}\n  of a node that may have {allowed}")
            # Who reports a result too late finds NodeLost, which nobody may change.
            if end.get("sandboxID") in self.world.spools.results and reason == "AgentRestarted":
                self.lost.append(f"{run}\n  its result lay in the spool")
        elif reason != "DeadlineExceeded":  # which a slow machine may make of any
            self.wrong.append(f"{run}\n  executed {executions} times")
