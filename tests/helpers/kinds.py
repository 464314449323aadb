# SPDX-License-Identifier: Apache-2.0
"""The kinds of sandbox that a run can get, and how tests get the one that they are run for.

layer.py runs the tests of some layers once for each kind. For one that waits the jailers that tests
start have a pool, a run is asked for only when a sandbox waits for it, and each run must have got
what was asked for: the jailer says so in PROTO_CREATED. Where tests speak to a jailer themselves,
jailer_protocol.py sees to that; between the command line and its jailer, kinds_relay.py does.

    with kinds.of_tests("fresh"):
        ...     # kinds.current is that kind; kinds.current.runs() says how many runs got it
"""

import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import weakref

from helpers import local

RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kinds_relay.py")

# So many wait in a jailer of a test for each runtime, and behind the command line. A run that finds
# none waits for the next.
WAITING, WAITING_ONCE = 4, 2


SANDBOX = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class WrongKind(AssertionError):
    """A run has got a sandbox of another kind than its test is run for."""


@dataclasses.dataclass
class Kind:
    name: str
    mode: str | None  # of --pool-mode; None: made for the run
    warm: int         # what PROTO_CREATED says of it

    @property
    def is_pooled(self):
        return self.mode is not None

    def why_not(self):
        """Why this jailer can't make such, or None."""
        # A jailer without the option makes them in the one way that there was before.
        if self.mode in (None, "fresh") or f"--pool-mode {self.mode}" in offered_modes():
            return None
        return f"the jailer offers no --pool-mode {self.mode}"

    def options(self, least=WAITING, most=None):
        """What a jailer is started with to make such, so many for each runtime."""
        if not self.is_pooled:
            return ()
        mode = ("--pool-mode", self.mode) if offered_modes() else ()
        return ("--pool-min", str(least), "--pool-max", str(most or least), *mode)


KINDS = {kind.name: kind for kind in (
    Kind("cold", None, 0),      # made for the run
    Kind("fresh", "fresh", 1),  # one that has waited, its interpreter started anew
    Kind("forked", "fork", 2),  # one that has waited, its interpreter forked from a template
)}


@functools.cache
def offered_modes():
    """`--pool-mode MODE` for each mode that the jailer's help names."""
    text = subprocess.run([os.path.join(local.BIN, "sandboxrun-jailer"), "--help"],
                          capture_output=True, text=True).stdout
    found = re.search(r"--pool-mode ([a-z|]+)", text)
    return [f"--pool-mode {mode}" for mode in found[1].split("|")] if found else []


class Tests:
    """What the tests of this process are run for. directory: where runs are counted, if they are.
    own_pools: their jailers have the pools that the tests themselves say."""

    def __init__(self, kind, directory=None, own_pools=False):
        self.kind, self.directory = kind, directory
        self.gives_pools = kind.is_pooled and not own_pools
        self.jailers = []  # of this process, by weak references

    # ---- the runs that have got such a sandbox

    @property
    def tally(self):
        return os.path.join(self.directory, "runs")

    def got(self, warm):
        """A run has got a sandbox of which the jailer says this."""
        if warm != self.kind.warm:
            raise WrongKind(f"a run got a sandbox that is {said(warm)}, not {self.kind.name}")
        note(self.tally)

    def runs(self):
        return os.path.getsize(self.tally) if self.kind.is_pooled else 0

    # ---- jailers

    def gate(self):
        return Gate(self)

    def command_of_jailer(self, jailer, waiting):
        """The words that start a jailer for the command line."""
        if not self.gives_pools:
            return [jailer]
        return [sys.executable, RELAY, self.kind.name, str(waiting), self.directory, jailer]

    @functools.cached_property
    def command_line(self):
        """The path of `sandboxrun`; beside it lies the jailer that it starts."""
        place = pathlib.Path(self.directory, "bin")
        place.mkdir()
        for name in ("sandboxrun", "sandboxrun-resolver"):
            shutil.copy(os.path.join(local.BIN, name), place)
        words = self.command_of_jailer(os.path.join(local.BIN, "sandboxrun-jailer"), WAITING_ONCE)
        jailer = place / "sandboxrun-jailer"
        jailer.write_text(f"#!/bin/sh\nexec {' '.join(words)} \"$@\"\n", encoding="utf-8")
        jailer.chmod(0o755)
        return str(place / "sandboxrun")

    def knows(self, jailer):
        self.jailers.append(weakref.ref(jailer))

    def waits(self, sandbox):
        """Whether the sandbox of this name waits for a run; by the logs of the jailers."""
        return self.gives_pools and bool(SANDBOX.fullmatch(sandbox)) and not any(
            f"made_as={sandbox}" in jailer.log_text() for each in self.jailers if (jailer := each()))

    def broken(self):
        """What kinds_relay.py has complained of."""
        return pathlib.Path(self.directory, "broken").read_text(encoding="utf-8") \
            if self.kind.is_pooled else ""


current = Tests(KINDS["cold"])


@contextlib.contextmanager
def of_tests(name, own_pools=False):
    global current
    before = current
    with tempfile.TemporaryDirectory(prefix="sandboxrun-kind-") as directory:
        os.chmod(directory, 0o755)  # the command line in it is for everybody
        for file in ("runs", "broken"):
            pathlib.Path(directory, file).touch()
        current = Tests(KINDS[name], directory, own_pools)
        try:
            yield current
        finally:
            current = before


def plan_of(directory):
    """What a directory's kind_plan.py says. Without one its tests are for what is made for the run."""
    path = os.path.join(directory, "kind_plan.py")
    return runpy.run_path(path) if os.path.exists(path) else {
        "KINDS": (), "OWN_POOLS": False, "LEFT_OUT": {}, "SHARE": {}}


def note(path):
    """One more. Several processes do this."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(fd, b".")
    os.close(fd)


class Gate:
    """On the way between an agent and its jailer: when a run may be asked for, and what it got."""

    def __init__(self, tests):
        self.tests = tests
        self.waiting = {}  # by runtime, without those that are asked for
        self.asked = {}    # the runtimes of what has no answer yet
        self.filling = set()  # runtimes whose pool has not been full yet

    def may_ask(self, create):
        """Whether one waits for the fields of a PROTO_CREATE, or never will: only Snippet has a
        pool, and a runtime must be there. At first until as many wait as can: beside busy runs, which
        have all the time there is, no more will be made."""
        return bool(create["profile"]) or (self.waiting.get(create["runtime"], 1) > 0
                                           and create["runtime"] not in self.filling)

    def ask(self, create):
        if not create["profile"] and create["runtime"] in self.waiting:
            self.waiting[create["runtime"]] -= 1
            self.asked[create["id"]] = create["runtime"]

    def hear(self, name, fields):
        """A message of the jailer, by its type's name."""
        if name == "HELLO":
            self.waiting, self.asked = {runtime: 0 for runtime, _ in fields["runtimes"]}, {}
            self.filling = set(self.waiting)
        elif name == "POOL":
            # What is answered is in the figure; what isn't may still be taken from it.
            asked = sum(runtime == fields["runtime"] for runtime in self.asked.values())
            self.waiting[fields["runtime"]] = fields["waiting"] - asked
            if fields["waiting"] >= fields["size"]:
                self.filling.discard(fields["runtime"])
        elif runtime := self.asked.pop(fields.get("id"), None):
            if name == "CREATED":
                self.tests.got(fields["warm"])
            else:
                self.waiting[runtime] += 1  # not taken; if it was, the pool's next word says so


def said(warm):
    return next((kind.name for kind in KINDS.values() if kind.warm == warm), str(warm))
