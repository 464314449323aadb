# SPDX-License-Identifier: Apache-2.0
"""The parts of the soak test that speak to jailers themselves, in the agent's place.

Steady: one jailer to the end, through agents that go away at random moments with all their runs on
the way; what the jailer itself holds must not grow. Pooled: the same with sandboxes that wait, some
of which die meanwhile; those stay for the next agent. Killed: SIGKILL of the jailer at a random
moment, again and again, most with a pool; nothing runs on, and the next start finds
nothing that it can't sweep.
"""

import contextlib
import itertools
import os
import signal
import time

import census
from flights import LANES, WAYS, Flights
from helpers import jailer_protocol as protocol
from helpers import kinds
from helpers.cgroup_tree import (parent_is_gone, processes_by_sandbox, sandboxes_below,
                                 zygotes_below)
from helpers.jailer_process import READY_NETNS, children_of, descriptors_of
from helpers.local import RUNTIMES, program
from programs import PROGRAMS

OPTIONS = ("--cgroup-parent", census.PARENT, "--uid-base", str(census.UIDS.start))
# Fewer than go at a time: a run may find none.
POOLS = [kind.options(4) for kind in kinds.KINDS.values() if kind.is_pooled and not kind.why_not()]
ZYGOTE = "python3"  # what sandboxes are forked from, as a process
SETTLED_WITHIN_S = 20
# Some forty runs begin in a second.
MAX_LIFE_OF_AGENT_S, MAX_LIFE_OF_JAILER_S = 3.0, 0.6

# The allocator keeps what a burst of runs took: of a jailer some pages; of agent and controller,
# which have buffers for requests and answers, some more.
MAX_JAILER_GROWTH_KIB, MAX_GROWTH_KIB = 96, 256


def anonymous_kib(pid):
    return next(int(line.split()[1]) for line in census.lines(f"/proc/{pid}/status")
                if line.startswith("RssAnon"))


class Soak:
    """What the parts share: the plan's chance, the tally, and the machine's processes."""

    def __init__(self, chance, tally):
        self.chance, self.tally = chance, tally
        self.pids = []  # functions that give the pid of a child that is to live, or None
        self.orphans = census.Orphans(lambda: {give() for give in self.pids} - {None})
        self.slowest_s = 0.0
        self.kills = 0
        self.starts = self.swept = 0  # of jailers after a killed one, and of those
        self.figures = []  # lines of a table: what a long-lived process held

    def unexpected(self, why):
        self.tally.unexpected.append(why)

    def nothing_runs_on(self, after, waiting=frozenset):
        """Every process of every sandbox is gone within the bound, but for those that wait, whose
        names are asked for, and what they are forked from."""
        def running():
            names = waiting()
            pids = {str(pid) for name, found in processes_by_sandbox(census.PARENT).items()
                    if name in names for pid in found}
            if names:
                pids |= set(map(str, zygotes_below(census.PARENT)))
            return {each for each in census.processes(self.orphans) if each.split()[0] not in pids}

        start = time.monotonic()
        left = running()
        while left and time.monotonic() < start + census.GONE_WITHIN_S:
            time.sleep(0.01)
            left = running()
        if left:
            self.unexpected(f"{after}: {sorted(left)} ran on for {census.GONE_WITHIN_S} s")
        else:
            self.slowest_s = max(self.slowest_s, time.monotonic() - start)

    def wait_for(self, what, condition, seconds=SETTLED_WITHIN_S):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                self.unexpected(f"{what}: not within {seconds} s")
                return False
            time.sleep(0.02)
        return True

    def same(self, what, before, after):
        for name, value in before.items():
            grown = after[name] - value
            kib = MAX_JAILER_GROWTH_KIB if what.endswith("jailer") else MAX_GROWTH_KIB
            allowed = kib if name.endswith("KiB") else 0
            mark = "  GROWN" if grown > allowed else ""
            self.figures.append(f"{what + ': ' + name:<36}{value:>10}{after[name]:>10}{grown:>+12}"
                                f"{allowed:>10}{mark}")
            if mark:
                self.unexpected(f"{what}: {name} grew from {value} to {after[name]}")


class OneJailer:
    """A jailer of the soak test that listens."""

    def __init__(self, soak, *options):
        self.soak = soak
        self.jailer = protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *OPTIONS, *options,
                                      socket=True)

    def __enter__(self):
        self.jailer.__enter__()
        self.soak.pids.append(self.pid)
        try:
            self.flights = Flights(self.jailer, census.PARENT, self.soak.chance, self.soak.tally)
        except BaseException:
            self.jailer.stop()
            raise
        return self

    def pid(self):
        return self.jailer.process.pid

    def __exit__(self, kind, value, traceback):
        if self.flights.flying:
            self.flights.abandon()
        status = self.jailer.stop()
        self.jailer.log.close()
        self.soak.pids.remove(self.pid)
        if kind is None and status not in (0, -signal.SIGKILL):
            self.soak.unexpected(f"the jailer ended with {status}")

    def held(self):
        """What it holds at rest: once all that it makes ahead is there."""
        self.soak.wait_for("a jailer at rest", self.at_rest)
        links, _ = descriptors_of(self.jailer)
        return {"descriptors": len(links), "children": len(sum(self.children().values(), [])),
                "mounts": len(census.lines(f"/proc/{self.pid()}/mountinfo")),
                "anonymous KiB": anonymous_kib(self.pid())}

    def children(self):
        return children_of(self.jailer)

    def at_rest(self):
        """With as many reapers as sandboxes that wait, and no others of either."""
        children = self.children()
        waiting = sum(pool["size"] for pool in self.flights.pools.values())
        ready = READY_NETNS if "netns" in children else 0  # where all are forked, none are needed
        return (self.flights.pools_are_full() and descriptors_of(self.jailer)[1] == ready
                and set(children) <= {"netns", "reaper", ZYGOTE}
                and len(children.get("reaper", ())) == waiting == len(self.flights.waiting())
                and self.none_has_a_run())

    def none_has_a_run(self):
        waiting = self.flights.waiting()
        return all(os.path.basename(path) in waiting for path in sandboxes_below(census.PARENT))

    def kill_one_that_waits(self):
        """It is replaced, and nobody hears of it. Not while a run may just be getting it."""
        if any(not flight.fds for flight in self.flights.flying.values()):
            return
        found = processes_by_sandbox(census.PARENT)
        pids = [pid for name in self.flights.waiting() for pid in found.get(name, ())]
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.soak.chance.choice(sorted(pids)), signal.SIGKILL)

    def leave(self):
        """The agent's end at any moment, as the kernel makes it: all descriptors at once."""
        lost = self.flights.abandon()
        self.soak.nothing_runs_on(f"the agent went with {lost} runs", self.flights.waiting)
        self.soak.wait_for("sandboxes to go with their agent", self.none_has_a_run)

    def until_a_random_moment(self, runs, longest_s):
        """Up to so many runs, one after the other until that moment; the number of runs begun."""
        until = time.monotonic() + self.soak.chance.uniform(0.01, longest_s)
        before = self.soak.tally.runs
        self.flights.fly(runs, until)
        return self.soak.tally.runs - before + len(self.flights.flying)


def every_program(soak):
    """Each once, as usual, and each way once. Fills caches and pools before the first count."""
    usual = WAYS[0]
    with OneJailer(soak) as one:
        plan = [(each, usual) for each in PROGRAMS if not each.agent_only]
        plan += [(PROGRAMS[1], way) for way in WAYS if way.name != "never started"]
        for each, way in plan:
            one.flights.launch(each, way)
            while len(one.flights.flying) >= LANES:
                one.flights.turn()
        one.flights.fly(0)
    gone(soak)


def steady(soak, runs, *options):
    with OneJailer(soak, *options) as one:
        warm_up = min(runs // 3, 200)
        one.flights.fly(warm_up)
        before = one.held()
        left = runs - warm_up
        while left > 0:
            left -= one.until_a_random_moment(left, MAX_LIFE_OF_AGENT_S)
            if options:
                one.kill_one_that_waits()
            if left > 0 and one.flights.flying:
                one.leave()
                one.flights.connect()
                soak.kills += 1
            else:
                one.flights.fly(0)
        soak.same("jailer" if not options else "pooled jailer", before, one.held())
    gone(soak)


def pooled(soak, runs):
    for pool in POOLS:
        before = soak.tally.warm
        steady(soak, runs // len(POOLS), *pool)
        if soak.tally.warm == before:
            soak.unexpected(f"no run got a sandbox that had waited: {pool}")


def gone(soak):
    if not parent_is_gone(census.PARENT):
        soak.unexpected("a jailer that ended in order left its cgroups")


def killed(soak, runs):
    left, there = runs, None
    options = itertools.cycle([(), *POOLS])
    while left > 0:
        with OneJailer(soak, *next(options)) as one:
            if there is not None:
                soak.starts += 1
                soak.swept += "swept" in one.jailer.log_text()
                if stayed := there & set(sandboxes_below(census.PARENT)):
                    soak.unexpected(f"the next start left {sorted(stayed)}")
            left -= one.until_a_random_moment(left, MAX_LIFE_OF_JAILER_S)
            if left <= 0:
                break
            os.kill(one.pid(), signal.SIGKILL)
            soak.kills += 1
            lost = one.flights.abandon()
            one.jailer.process.wait(10)
            soak.nothing_runs_on(f"the jailer was killed with {lost} runs")
            there = set(sandboxes_below(census.PARENT))
    gone(soak)
