# SPDX-License-Identifier: Apache-2.0
"""The kinds of faults: what is done to which part, for how long, and what it takes back."""

import dataclasses

from world import (ACTIVE, CONTROLLERS, LOST_S, SILENT_S, STANDBY, TAKEN_OVER_S, TIMEOUT_S)

# Long is longer than any time by which something is given up; for what is between controller and
# API server or behind it there is none but the heartbeat's.
SHORT_S = (0.8, 2.0)
LONG_S = (LOST_S + 0.5, LOST_S + 1.5)
PAST_LEASE_S = (SILENT_S + 0.5, SILENT_S + 2.0)
PAST_LEAD_S = (TAKEN_OVER_S + 1.0, TAKEN_OVER_S + 2.5)  # another one leads meanwhile
# All that ran has met its deadline, and process 1 the one behind that.
PAST_DEADLINE_S = (TIMEOUT_S + 4.0, TIMEOUT_S + 6.0)
DOWN_S = (0.0, 0.8)


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    seconds: tuple
    begin: object  # called with the world, the name of the part, and for how long
    end: object
    target: str | None = None  # None: one of the nodes
    losses: tuple = ()  # reasons that runs of that node may have then
    family: str | None = None  # the short form has one of each

    @property
    def of_node(self):
        return self.target is None

    @property
    def is_long(self):
        return self.seconds is LONG_S


@dataclasses.dataclass
class Fault:
    """One of the plan."""

    kind: Kind
    target: str
    at_s: float  # after the begin of its round
    for_s: float
    part: str | None = None  # what it befell

    def __str__(self):
        where = f" ({self.target})" if self.kind.of_node else ""
        return f"{self.kind.name}{where} at {self.at_s:.2f} s for {self.for_s:.2f} s"

    def begin(self, world):
        self.part = world.find(self.target)
        self.kind.begin(world, self.part, self.for_s)

    def end(self, world):
        self.kind.end(world, self.part)


def _kill(suffix=""):
    return (lambda world, target, for_s: world.parts[target + suffix].kill(for_s),
            lambda world, target: None)  # the world starts it again


def _pause(suffix=""):
    return (lambda world, target, for_s: world.parts[target + suffix].pause(),
            lambda world, target: world.parts[target + suffix].resume())


def _kill_all(*names):
    def begin(world, _, for_s):
        for name in names:
            world.parts[name].kill(for_s)
    return begin, lambda world, target: None


def _cut(to, back):
    """Of what the part sends to the API server, and of what that sends to it."""
    def pairs(place):
        return ([(place, "apiserver")] if to else []) + ([("apiserver", place)] if back else [])

    def begin(world, place, _):
        for pair in pairs(place):
            world.hub.cut(*pair)

    def end(world, place):
        for pair in pairs(place):
            world.hub.mend(*pair)
    return begin, end


def _then_kill(begin, end):
    """What befalls an agent, which is then killed at its end: it has not told what it has done."""
    def kill(world, target):
        world.parts[f"{target}-agent"].kill(0.0)
        end(world, target)
    return begin, kill


def _set_clock(hours):
    return (lambda world, part, _: world.clocks.set(part, hours * 3600),
            lambda world, part: world.clocks.set(part, 0))


def _restart_with_clock(hours):
    """Both controllers, that have to tell the age of what they find by a clock that is wrong."""
    def begin(world, *_):
        for name in CONTROLLERS:
            world.clocks.set(name, hours * 3600)
            world.parts[name].kill(0.0)

    def end(world, _):
        for name in CONTROLLERS:
            world.clocks.set(name, 0)
    return begin, end


def _fill(then_kill=False):
    """The disk under a node's spool; an agent may have to start on it."""
    def begin(world, node, _):
        world.disks[node].fill()
        if then_kill:
            world.parts[f"{node}-agent"].kill(0.0)
    return begin, lambda world, node: world.disks[node].free()


DIRECTIONS = (("both ways between", True, True), ("from", True, False), ("to", False, True))
LOST_AGENT = ("AgentRestarted",)
# An agent whose jailer goes ends as well, and tells of what it had.
LOST_JAILER = ("JailerLost", "AgentRestarted")
SILENT = ("NodeLost", "AgentRestarted")
# A start that the jailer reads only when it wakes, and refuses; its program may have run till then.
LATE_START = ("InternalError",)


def _ends():
    for name in (ACTIVE, STANDBY):
        yield Kind(f"kill {name} controller", DOWN_S, *_kill(), name, (), "kill controller")
    yield Kind("kill both controllers", DOWN_S, *_kill_all(*CONTROLLERS), CONTROLLERS[0], (),
               "kill controller")
    for name in ("apiserver", "etcd"):
        yield Kind(f"kill {name}", DOWN_S, *_kill(), name)
    yield Kind("kill agent", DOWN_S, *_kill("-agent"), None, LOST_AGENT)
    yield Kind("kill agent, for long", LONG_S, *_kill("-agent"), None, SILENT)
    yield Kind("kill agent that is cut off", SHORT_S, *_then_kill(*_cut(True, True)), None, SILENT,
               "kill agent that is silent")
    yield Kind("kill agent that is stopped", SHORT_S, *_then_kill(*_pause("-agent")), None, SILENT,
               "kill agent that is silent")
    yield Kind("kill jailer", DOWN_S, *_kill("-jailer"), None, LOST_JAILER)


def _pauses():
    for name in (ACTIVE, STANDBY):
        yield Kind(f"stop {name} controller", PAST_LEAD_S, *_pause(), name, (), "stop controller")
    yield Kind("stop active controller, for a moment", SHORT_S, *_pause(), ACTIVE, (),
               "stop controller")
    yield Kind("stop agent", SHORT_S, *_pause("-agent"), None, SILENT)
    yield Kind("stop agent, for long", LONG_S, *_pause("-agent"), None, SILENT)
    yield Kind("stop jailer", SHORT_S, *_pause("-jailer"), None, LATE_START)
    yield Kind("stop jailer past deadlines", PAST_DEADLINE_S, *_pause("-jailer"), None, LATE_START)


def _cuts():
    for word, part, long_s, losses in (("agent", None, LONG_S, SILENT),
                                       ("active controller", ACTIVE, PAST_LEAD_S, ()),
                                       ("etcd", "etcd", PAST_LEASE_S, ())):
        for direction, to, back in DIRECTIONS:
            name = f"cut {direction} {word}"
            cut = _cut(to, back)
            yield Kind(name, SHORT_S, *cut, part, losses, f"cut {word}")
            yield Kind(f"{name}, for long", long_s, *cut, part, losses, f"cut {word}, for long")


def _clocks():
    """Set at the begin, and set back at the end."""
    for word, hours in (("ahead", 3), ("back", -3)):
        yield Kind(f"set the active controller's clock {word}", SHORT_S, *_set_clock(hours), ACTIVE,
                   (), "set a controller's clock")
        yield Kind(f"kill both controllers and set their clocks {word}", PAST_LEAD_S,
                   *_restart_with_clock(hours), CONTROLLERS[0], (),
                   "kill controllers and set their clocks")
        # Before the begin of a server's certificate nobody can connect to it.
        yield Kind(f"set an agent's clock {word}", SHORT_S, *_set_clock(hours), None, SILENT,
                   "set an agent's clock")


def _disks():
    yield Kind("fill spool", SHORT_S, *_fill(), None, (), "fill spool")
    yield Kind("fill spool, kill agent", SHORT_S, *_fill(True), None, LOST_AGENT, "fill spool")


KINDS = [*_ends(), *_pauses(), *_cuts(), *_clocks(), *_disks()]
