# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus: families in calls of the command line, and a test for each attempt behind it.

A family's attempts run beside a neighbour, in as few calls as they can. What needs a look from
another side (a terminal, the object as text, a second run) is run a second time. Bombs run four
at a time beside a worker that measures its own speed.
"""

import fnmatch
import json
import os
import secrets
import time
import unittest

import corpus
import neighbour
import runs
import sweep
import verdict
from helpers import kinds
from helpers.local import EMULATED, document
from outside import SECRET, Outside
from verdict import REFUSED, THROUGH, UNCLEAR, Verdict

# Documents of a family at a time; where attempts mostly wait for their deadline, more.
PARALLEL = {"deadline": 6}
DEFAULT_PARALLEL = 2
BOMBS_BESIDE_A_WORKER = 4
# The neighbour that watches is a run too, and must not come to its deadline.
WATCHED_AT_A_TIME = 15 if EMULATED else 1000
TRIES_FOR_SPEED = 3
OBJECT_PARTS = ["apiVersion", "kind", "metadata", "spec", "status"]
# A share of a processor that is kept in slices of 100 ms overruns by a slice at either end.
CPU_SLACK, CPU_SLACK_MS = 1.25, 200


class Tally:
    """For the line before the last: `N attempts, M got through`."""

    def __init__(self):
        self.attempts = self.through = 0

    def __str__(self):
        return f"{self.attempts} attempts, {self.through} got through"


class EscapeTest(unittest.TestCase):
    """One line of the table. Its outcome is there before it runs."""

    made_elsewhere = True  # for layer.py: what it tells of, which its suite has counted

    def __init__(self, name, wanted, outcome, tally, weight=1):
        super().__init__("runTest")
        self.name, self.wanted, self.outcome = name, wanted, outcome
        self.tally, self.weight = tally, weight

    def runTest(self):
        self.tally.attempts += self.weight
        if self.outcome is None:
            self.tally.attempts -= self.weight
            self.skipTest(self.wanted)
        if self.outcome.kind == THROUGH:
            self.tally.through += max(1, getattr(self.outcome, "count", 1))
        if self.outcome.kind != REFUSED:
            what = "GOT THROUGH" if self.outcome.kind == THROUGH else "no clear refusal"
            self.fail(f"{what}: {self.outcome.met}\n{self.outcome.detail}")

    def id(self):
        return self.name

    def __str__(self):
        met = self.outcome.met if self.outcome else "not tried"
        return f"{self.name:<52} {self.wanted:<26.26} {met[:26]:<26}"

    def shortDescription(self):
        return None


class Family:
    """Runs the attempts of a family; outcomes by attempt, and what changed outside."""

    def __init__(self, outside, attempts):
        self.outside, self.attempts = outside, attempts
        self.outcomes = {}

    def run(self):
        begun = kinds.current.runs()
        tried = [attempt for attempt in self.attempts if not attempt.missing()]
        beside = [attempt for attempt in tried if attempt.host == "neighbour"]
        secret = SECRET + secrets.token_hex(16)
        self.secrets = [*self.outside.secrets, secret]
        changes = []
        plain = [attempt for attempt in tried if attempt.host != "neighbour"]
        for at in range(0, len(plain), WATCHED_AT_A_TIME):
            changes += self.run_watched(plain[at:at + WATCHED_AT_A_TIME], secret)
        self.run_beside_workers(beside)
        got = kinds.current.runs() - begun
        if kinds.current.kind.is_pooled and got < len(tried):
            changes.append(f"of {len(tried)} attempts {got} got a sandbox that is "
                           f"{kinds.current.kind.name}")
        return changes + self.outside.changes()

    def run_watched(self, attempts, secret):
        watcher = neighbour.Watcher(self.outside, secret)
        try:
            self.run_together(attempts)
            for attempt in attempts:
                self.run_specially(attempt)
            return watcher.changes()
        finally:
            watcher.end()

    def judge(self, attempt, status):
        found = verdict.judge(attempt, status, self.secrets)
        limits = {name: attempt.head[name] for name in ("memory", "cpu") if name in attempt.head}
        if found.kind == REFUSED and (beyond := beyond_limits(limits, status)):
            found = Verdict(THROUGH, beyond, verdict.describe(status))
        self.outcomes[attempt.id] = found

    def run_together(self, attempts):
        text = runs.documents(self.outside, attempts)
        parallel = PARALLEL.get(attempts[0].family, DEFAULT_PARALLEL)
        for attempt, status in zip(attempts, runs.statuses(self.outside, text, parallel),
                                   strict=True):
            self.judge(attempt, status)

    def run_specially(self, attempt):
        """A second run, of which the host sees another side."""
        function = {"terminal": self.on_terminal, "yaml": self.as_yaml, "json": self.as_json,
                    "twice": self.twice}.get(attempt.host)
        if not function or self.outcomes[attempt.id].kind != REFUSED:
            return
        if bad := function(runs.documents(self.outside, [attempt])):
            self.outcomes[attempt.id] = Verdict(THROUGH, *bad)
        elif attempt.host == "terminal":
            self.outcomes[attempt.id] = Verdict(REFUSED, "shown as text")

    def on_terminal(self, text):
        shown = runs.on_terminal(self.outside, text)
        if not shown:
            return "nothing was shown", ""
        found = runs.control_bytes(shown)
        return found and (f"the terminal got {' '.join(found)}", repr(shown))

    def as_yaml(self, text):
        """One document with its usual parts, whatever the output says; and on a terminal no
        control bytes."""
        printed = runs.call(self.outside, text, "-o", "yaml").stdout
        parts = [line.split(":")[0] for line in printed.splitlines() if line[:1].strip()]
        if sorted(part for part in parts if part != "---") != OBJECT_PARTS:
            return "another document", printed
        shown = runs.on_terminal(self.outside, text, "-o", "yaml")
        found = runs.control_bytes(shown)
        return found and (f"the terminal got {' '.join(found)}", repr(shown))

    def as_json(self, text):
        """Strict JSON of a size that an API server takes, with the code that it came with."""
        printed = runs.call(self.outside, text, "-o", "json").stdout
        try:
            found = json.loads(printed)
        except ValueError as error:
            return f"not JSON: {error}", printed[:2000]
        if found["spec"]["code"] != json.loads(text)["spec"]["code"]:
            return "the spec was changed", printed[:2000]
        size = len(printed.encode("utf-8", errors="surrogateescape"))
        return size > 1280 << 10 and (f"an object of {size} bytes", "")

    def twice(self, text):
        """What two runs have drawn, one after the other: nothing may be the same."""
        one, other = (runs.statuses(self.outside, text, 1)[0]["stdout"] for _ in range(2))
        same = [line for line in set(one.split("\n")) & set(other.split("\n"))
                if line.startswith("DRAWN ")]
        if "DRAWN " not in one:
            return "nothing was drawn", one
        return same and ("two runs drew the same", "\n".join(same))

    def run_beside_workers(self, attempts):
        if attempts:
            self.alone = self.worker_alone()
        for at in range(0, len(attempts), BOMBS_BESIDE_A_WORKER):
            self.run_beside_worker(attempts[at:at + BOMBS_BESIDE_A_WORKER])

    def run_beside_worker(self, attempts):
        """Again, with a fresh measure of the worker alone, if its speed has suffered: other
        programs of the machine slow it down too, but not each time."""
        text = runs.documents(self.outside, attempts, before=[neighbour.worker("worker")])
        for left in reversed(range(TRIES_FOR_SPEED)):
            worker, *others = runs.statuses(self.outside, text, len(attempts) + 1)
            for attempt, status in zip(attempts, others, strict=True):
                self.judge(attempt, status)
            found = neighbour.report(worker)
            speed = self.alone / found["cost"] if found and found["pieces"] else 0.0
            if speed >= neighbour.MIN_SPEED or not left:
                break
            self.alone = self.worker_alone()
        for attempt in attempts:
            outcome = self.outcomes[attempt.id]
            if outcome.kind != REFUSED:
                continue
            if not found or not found["memory"]:
                self.outcomes[attempt.id] = Verdict(THROUGH, "the neighbour lost its memory",
                                                    verdict.describe(worker))
            elif speed < neighbour.MIN_SPEED:
                self.outcomes[attempt.id] = Verdict(
                    THROUGH, f"the neighbour kept {speed:.0%}", f"alone {self.alone}, beside "
                    f"{[other.id for other in attempts]} {found['cost']} ns for a piece of work")
            else:
                outcome.met += f"; {min(speed, 1.0):.0%}"

    def worker_alone(self):
        status = runs.statuses(self.outside, json.dumps(neighbour.worker("alone")), 1)[0]
        found = neighbour.report(status)
        if not found or not found["pieces"]:
            raise AssertionError(f"the worker alone: {verdict.describe(status)}")
        return found["cost"]


def beyond_limits(limits, status):
    """Which of its limits a run has passed, by the platform's own measure, or None."""
    usage = status.get("usage", {})
    if "memory" in limits and "peakMemoryBytes" in usage:
        limit = int(limits["memory"].removesuffix("Mi")) << 20
        if usage["peakMemoryBytes"] > limit:
            return f"{usage['peakMemoryBytes']} bytes of {limit}"
    if "cpu" in limits and "cpuMilliseconds" in usage:
        share = int(limits["cpu"].removesuffix("m")) / 1000
        # What is killed dies with the profile's processor, or a small share would hold up its end.
        wall = usage["wallMilliseconds"]
        dying = max(0, wall - 1000 * status.get("effective", {}).get("timeoutSeconds", wall))
        allowed = (share * (wall - dying) + dying) * CPU_SLACK + CPU_SLACK_MS
        if usage["cpuMilliseconds"] > allowed:
            return f"{usage['cpuMilliseconds']} ms of processor time, {allowed:.0f} allowed"
    return None


def sweep_entry(outside, entry, policy):
    """The verdict over all numbers of an entry, and how many calls it was."""
    found = sweep.calls(entry, policy)
    chunks = sweep.chunks(found)
    text = "\n---\n".join(json.dumps(document(
        corpus.program(sweep.program(chunk)), name=f"sweep-{number}", timeoutSeconds=60,
        profile=policy.profile))
        for number, chunk in enumerate(chunks))
    wrong = []
    for chunk, status in zip(chunks, runs.statuses(outside, text, 2), strict=True):
        got_all = sweep.outcomes(chunk, status)
        if got_all is None:
            return Verdict(UNCLEAR, status["reason"], verdict.describe(status)), len(found)
        for call, got in zip(chunk, got_all, strict=True):
            if (why := call.fails(got)) and not call.is_unknown(got):
                wrong.append((call, why))
    if wrong:
        outcome = Verdict(THROUGH, f"{len(wrong)} of {len(found)}",
                          "\n".join(f"{call}: {why}" for call, why in wrong))
        outcome.count = len(wrong)
        return outcome, len(found)
    allowed = sum(call.wanted == "allow" for call in found)
    return Verdict(REFUSED, f"{len(found)} as it says"
                   + (f", {allowed} allowed" if allowed else "")), len(found)


class EscapeSuite(unittest.TestSuite):
    """Runs family after family, and each attempt's test behind it."""

    def __init__(self, patterns, profile=corpus.SNIPPET, only=None, tally=None):
        """only: of these families, and `sweep`; all without it. A tally may be shared."""
        super().__init__()
        self.patterns = patterns
        self.profile = profile
        self.families = {}
        for family, attempts in corpus.load(profile).items():
            if only and family not in only:
                continue
            chosen = [attempt for attempt in attempts if self.wants(attempt.id)]
            if chosen:
                self.families[family] = chosen
        self.sweeps = [entry for entry in sweep.entries() if self.wants(self.sweep_id(entry))
                       and (not only or "sweep" in only)]
        self.tally = tally or Tally()

    def sweep_id(self, entry):
        return f"sweep/{entry}" + corpus.as_profile(self.profile)

    def wants(self, name):
        return not self.patterns or any(fnmatch.fnmatchcase(name, p) for p in self.patterns)

    def names(self):
        return [self.sweep_id(entry) for entry in self.sweeps] + [
            attempt.id for attempts in self.families.values() for attempt in attempts]

    def keep(self, stays):
        """Drops the sweeps and attempts without stays(name)."""
        self.sweeps = [entry for entry in self.sweeps if stays(self.sweep_id(entry))]
        for family, attempts in list(self.families.items()):
            self.families[family] = [attempt for attempt in attempts if stays(attempt.id)]
            if not self.families[family]:
                del self.families[family]

    def countTestCases(self):
        return sum(map(len, self.families.values())) + len(self.families) + len(self.sweeps)

    def run(self, result, debug=False):
        if not self.families and not self.sweeps:
            return result
        if os.geteuid() != 0:
            EscapeTest("escape", "needs root to make jails", None, self.tally).run(result)
            return result
        with Outside() as outside:
            self.run_sweeps(outside, result)
            for family, attempts in self.families.items():
                self.run_family(outside, family, attempts, result)
        # For layer.py, which says it before its closing line.
        result.last_words = str(self.tally)
        return result

    def run_sweeps(self, outside, result):
        if not self.sweeps:
            return
        policy = sweep.Policy(self.profile)
        for entry in self.sweeps:
            outcome, count = sweep_entry(outside, entry, policy)
            EscapeTest(self.sweep_id(entry), "as the policy file says", outcome, self.tally,
                       count).run(result)

    def run_family(self, outside, family, attempts, result):
        running = Family(outside, attempts)
        start = time.monotonic()
        changes = running.run()
        took = time.monotonic() - start
        for attempt in attempts:
            reason = attempt.missing()
            EscapeTest(attempt.id, reason or ", ".join(attempt.expect),
                       None if reason else running.outcomes[attempt.id], self.tally).run(result)
        outcome = Verdict(THROUGH, f"{len(changes)} changes", "\n".join(changes)) if changes else \
            Verdict(REFUSED, f"as before, after {took:.1f} s")
        EscapeTest(f"{family}/(the outside)" + corpus.as_profile(self.profile), "nothing changed", outcome, self.tally,
                   weight=0).run(result)
