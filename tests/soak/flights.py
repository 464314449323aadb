# SPDX-License-Identifier: Apache-2.0
"""Several runs at a time over one connection to a jailer, each treated as the plan says.

A flight is one run from PROTO_CREATE to its last word. What it must end with follows from its
program and from the way in which it is treated. All flights of a connection are served by one loop,
as an agent does it.
"""

import collections
import contextlib
import dataclasses
import os
import re
import select
import selectors
import time

from helpers import jailer_protocol as protocol
from helpers.cgroup_tree import sandboxes_below
from programs import COMPLETED, DEADLINE, FORBIDDEN, OOM, Program, choose, differs, error

LANES = 6
RUNTIME = "python3.12"
KILLED = ("Killed", None)
REFUSED = ("Refused", None)
LOST = ("Lost", None)

# Above the deadline: what a busy machine may take to end a sandbox, and to say so.
MAX_LATE_US = 5_000_000
LAST_WORD_WITHIN_S = 60
MAX_KEPT_BYTES = 65536

# What reading from a pipe gave.
SOME, EMPTY, END = range(3)


@dataclasses.dataclass(frozen=True)
class Way:
    """How a run is treated. ends None: those of the program."""

    name: str
    weight: int
    ends: tuple | None = None
    or_ends: tuple = ()
    kill_within_s: float | None = None  # counted from the moment below
    kill_from: str = "started"
    starts: bool = True
    reads: bool = True
    request: str = "whole"
    timeout_ms: int | None = None
    memory_mib: int | None = None


WAYS = [
    Way("as usual", 600),
    Way("killed in the making", 60, (KILLED,), kill_within_s=0.015, kill_from="asked",
        starts=False),
    Way("killed before the start", 50, (KILLED,), kill_within_s=0.03, kill_from="created",
        starts=False),
    Way("killed at the start", 50, or_ends=(KILLED,), kill_within_s=0.03),
    Way("killed while running", 90, or_ends=(KILLED,), kill_within_s=0.3),
    Way("output not read", 50, or_ends=(DEADLINE,), reads=False, timeout_ms=1500),
    # The runner refuses it, and can't say why, since nobody listens.
    Way("all pipes closed", 30, (error(70), error(1)), request="closed", reads=False),
    Way("half a request", 25, (error(70),), request="half"),
    Way("no request", 15, (DEADLINE,), request="none", timeout_ms=400),
    Way("never started", 1, (DEADLINE,), starts=False),
    Way("too long a timeout", 14, (REFUSED,), timeout_ms=60001),
    Way("too much memory", 14, (REFUSED,), memory_mib=513),
]


def end_of(kind, fields):
    """(reason, exit code) as the agent would write them into status; KILLED and the like are the
    jailer's own."""
    if kind == protocol.REFUSED:
        return REFUSED
    end = fields["end"]
    if end == protocol.END_EXITED and fields["has_status"]:
        code = os.waitstatus_to_exitcode(fields["wait_status"])
        if code == -9 and fields["oom_kills"]:
            return OOM
        if code < 0:
            return FORBIDDEN if code == -31 else ("Signaled", 128 - code)
        return error(code) if code else COMPLETED
    return {protocol.END_DEADLINE: DEADLINE, protocol.END_OOM: OOM, protocol.END_KILLED: KILLED,
            protocol.END_FORBIDDEN: FORBIDDEN, protocol.END_SHUTDOWN: LOST}.get(
                end, ("ReaperDied", end))


class Tally:
    """What has ended how, over the whole soak test."""

    def __init__(self):
        self.runs = self.warm = 0  # warm: in a sandbox that had waited
        self.ends = collections.Counter()
        self.unexpected = []

    def note(self, what, end, why):
        self.runs += 1
        self.ends[end[0]] += 1
        if why:
            self.unexpected.append(f"{what}: {why}")


class Flight:
    def __init__(self, program: Program, way: Way):
        self.program, self.way = program, way
        self.id = protocol.new_id()
        self.asked_at = time.monotonic()
        self.fds = ()
        self.request = b""
        self.output = {}
        self.timeout_ms = way.timeout_ms or program.timeout_s * 1000
        self.stdout = None

    def __str__(self):
        return f"{self.program.name}, {self.way.name}"

    def expected(self):
        return (self.way.ends or self.program.ends) + self.way.or_ends


class Names:
    """Of sandboxes: what a jailer's log says of who got one that had waited."""

    def __init__(self, jailer):
        self.jailer = jailer
        self.read = 0
        self.first = {}  # the name that it was made with, by that of its run

    def update(self):
        text = self.jailer.log_text(self.read)
        text = text[:text.rfind("\n") + 1]
        self.read += len(text.encode())
        self.first |= dict(re.findall(r"sandbox taken sandbox=(\S+) made_as=(\S+)", text))

    def of(self, run):
        """The last part of the path of its cgroup."""
        self.update()
        return self.first.get(run, run)


class Flights:
    """The loop. parent is the cgroup in which a finished sandbox must not be found."""

    def __init__(self, jailer, parent, chance, tally):
        self.jailer, self.parent, self.chance, self.tally = jailer, parent, chance, tally
        self.names = Names(jailer)
        self.launched = set()
        self.pools = {}  # the last word about each, by runtime
        self.free = 0    # so many are known to wait
        self.flying = {}
        self.timers = []
        self.connect()

    def connect(self):
        self.connection = self.jailer.connect()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.connection.sock, selectors.EVENT_READ)

    def launch(self, program=None, way=None):
        program = program or choose(self.chance, agent=False)
        way = way or self.chance.choices(WAYS, [one.weight for one in WAYS])[0]
        flight = Flight(program, way)
        self.flying[flight.id] = flight
        self.launched.add(flight.id)
        self.free -= 1
        self.connection.create(flight.id, memory=(way.memory_mib or program.memory_mib)
                               * protocol.MIB)
        self.moment(flight, "asked")

    def moment(self, flight, name):
        way = flight.way
        if way.kill_within_s is not None and way.kill_from == name:
            # Half of them at once, before the jailer has done anything else.
            delay = self.chance.choice([0, self.chance.uniform(0, way.kill_within_s)])
            self.timers.append((time.monotonic() + delay, flight.id))

    def fly(self, launches, until=None):
        """Starts so many runs, LANES at a time, and ends when they have all ended, or at until."""
        while launches or self.flying:
            # With a pool when one waits in it, since none is made beside busy runs.
            while launches and len(self.flying) < LANES and (self.free > 0 or not self.pools):
                self.launch()
                launches -= 1
            self.turn(until)
            if until and time.monotonic() >= until:
                break

    def turn(self, until=None):
        now = time.monotonic()
        for timer in [timer for timer in self.timers if timer[0] <= now]:
            self.timers.remove(timer)
            self.connection.send(protocol.KILL, id=timer[1])
        moments = [when for when, _ in self.timers] + [now + 1.0] + ([until] if until else [])
        for key, _ in self.selector.select(max(0.0, min(moments) - now)):
            if key.fileobj is self.connection.sock:
                self.receive()
            elif key.fd in self.selector.get_map():
                self.serve(key.fd, key.data)
        for flight in list(self.flying.values()):
            if now - flight.asked_at > flight.timeout_ms / 1000 + LAST_WORD_WITHIN_S:
                raise AssertionError(f"{flight}: no last word within {now - flight.asked_at:.0f} s")

    def receive(self):
        kind, fields, fds = self.connection.receive()
        if kind == protocol.POOL:
            self.pools[fields["runtime"]] = fields
            self.free = self.pools[RUNTIME]["waiting"] if RUNTIME in self.pools else 0
            return
        flight = self.flying[fields["id"]]
        if kind == protocol.CREATED:
            self.tally.warm += bool(fields["warm"])
            self.created(flight, fds)
        else:
            self.ended(flight, kind, fields)

    def created(self, flight, fds):
        way = flight.way
        flight.fds = fds
        self.moment(flight, "created")
        if not way.starts:
            return
        self.connection.send(protocol.START, id=flight.id, timeout_ms=flight.timeout_ms)
        self.moment(flight, "started")
        if way.request == "closed":
            self.close(flight)
            return
        request = protocol.encode_request(flight.program.code)
        flight.request = request[:len(request) // 2] if way.request == "half" else request
        for fd in fds:
            os.set_blocking(fd, False)
        if way.request != "none":
            self.selector.register(fds[0], selectors.EVENT_WRITE, flight)
        for fd in fds[1:] if way.reads else ():
            flight.output[fd] = bytearray()
            self.selector.register(fd, selectors.EVENT_READ, flight)

    def serve(self, fd, flight):
        if fd == flight.fds[0]:
            with contextlib.suppress(BrokenPipeError):
                flight.request = flight.request[os.write(fd, flight.request[:65536]):]
                if flight.request:
                    return
        elif self.read(fd, flight.output[fd]) != END:
            return
        self.drop(fd, flight)

    def read(self, fd, output):
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return EMPTY
        if len(output) < MAX_KEPT_BYTES:
            output += data
        return SOME if data else END

    def drop(self, fd, flight):
        with contextlib.suppress(KeyError):
            self.selector.unregister(fd)
        os.close(fd)
        flight.fds = tuple(one if one != fd else -1 for one in flight.fds)

    def close(self, flight):
        for fd in flight.fds:
            if fd >= 0:
                self.drop(fd, flight)

    def ended(self, flight, kind, fields):
        held = False
        for fd, output in flight.output.items():
            if fd in flight.fds:
                # All of it is in the pipe, and then comes its end: no writer is left.
                while (found := self.read(fd, output)) == SOME:
                    pass
                held = held or found == EMPTY
        if flight.output:
            stdout = next(iter(flight.output.values()))
            flight.stdout = bytes(stdout).decode(errors="replace")
        self.close(flight)
        del self.flying[flight.id]
        end = end_of(kind, fields)
        why = "its pipes are open after the last word" if held else None
        self.tally.note(str(flight), end, why or self.judge(flight, end, fields))

    def judge(self, flight, end, fields):
        name = self.names.of(flight.id)
        if any(path.endswith(name) for path in sandboxes_below(self.parent)):
            return "its cgroup is there after the last word"
        if end == DEADLINE and flight.way.name != "never started":
            late = fields["wall_us"] - flight.timeout_ms * 1000
            if not 0 <= late <= MAX_LATE_US:
                return f"ended {late} us after its deadline"
        usual = flight.way.ends is None
        return differs(flight.program, flight.expected(), end,
                       flight.stdout if usual and not flight.way.or_ends else None)

    def pools_are_full(self):
        """At rest, when nothing else is said."""
        while self.connection.waiting or select.select([self.connection.sock], [], [], 0)[0]:
            self.receive()
        return all(pool["waiting"] == pool["size"] for pool in self.pools.values())

    def waiting(self):
        """The names of the sandboxes that no run has, whether they wait or are in the making."""
        found = {os.path.basename(path) for path in sandboxes_below(self.parent)}
        self.names.update()
        return found - set(self.names.first.values()) - self.launched

    def abandon(self):
        """The agent's end, whatever is on the way."""
        lost = len(self.flying)
        for flight in list(self.flying.values()):
            self.close(flight)
            self.tally.note(str(flight), LOST, None)
        self.flying.clear()
        self.timers.clear()
        self.selector.close()
        self.connection.close()
        return lost
