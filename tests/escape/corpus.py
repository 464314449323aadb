# SPDX-License-Identifier: Apache-2.0
"""The attempts: files below this directory, one family a directory, their heads, their programs.

README.md says what stands in a head.
"""

import os
import re

from helpers.local import EMULATED

HERE = os.path.dirname(os.path.abspath(__file__))

MAX_TIMEOUT_S = 60

SNIPPET, TOOL_CALL = "Snippet", "ToolCall"

# Directory, title, and what the attempts have in common. In the order of the page and of the runs.
FAMILIES = [
    ("system-calls", "System calls by another door",
     "The filter decides by architecture, number and arguments. These look for calls that it "
     "doesn't see, sees wrongly, or that run before it or without it."),
    ("namespaces", "Namespaces and clone flags",
     "Inside a namespace of its own a program holds every capability over it, and most kernel "
     "exploits of the last years began there."),
    ("mounts", "Mounts, by the old calls and the new, and the read-only root",
     "What a program can mount, move or write decides what it can see of the node."),
    ("proc-and-sys", "/proc and /sys",
     "The kernel's own files tell about the node and its processes, and some of them set it."),
    ("other-processes", "ptrace, pidfds and other processes",
     "Process 1 of the sandbox, other sandboxes and the node's own processes must be out of reach, "
     "whatever uid they have."),
    ("kernel-interfaces", "Keys, io_uring, bpf, perf, userfaultfd, fanotify, kexec, modules",
     "Large or global parts of the kernel, each with a history."),
    ("privileges", "Set-uid, file capabilities, memfd, ld.so",
     "Ways to more privilege than the program was started with."),
    ("devices", "Device nodes and ioctls",
     "A device node is a door into a driver; an ioctl is a door that any file may have."),
    ("cgroups", "cgroups, release_agent and core_pattern",
     "The limits of the run, and the classic ways out of a container that lead through them."),
    ("sockets", "Sockets",
     "Abstract, netlink, raw, packet, vsock, bluetooth, AF_ALG and the rest: the network, the "
     "kernel's control channels, and everything that listens on the node."),
    ("inheritance", "Descriptors, environment and memory of the parent",
     "What a sandbox could have been born with."),
    ("read-back", "What the host reads back",
     "Links, pipes and texts meant for those who take the output and the result."),
    ("bombs", "Bombs beside a neighbour",
     "Each runs with a neighbour that measures its own work: it must keep 90 % of its speed and "
     "all of its memory."),
    ("signals-at-process-1", "Signals at process 1",
     "Process 1 is the sandbox's supervisor and shares the program's uid."),
    ("limits-of-process-1", "Limits, scheduling and OOM score of process 1",
     "Whoever can starve or lame process 1 could outlive the deadline."),
    ("deadline", "The deadline",
     "Stopped, daemonised, double-forked, re-parented, uninterruptible: nothing outlives the run."),
    ("terminal", "Terminal tricks in the output",
     "A terminal obeys what is written to it. The command line shows control bytes and sends "
     "none."),
    ("core-dumps", "Core dumps",
     "A piped core_pattern starts a program as root on the host. tests/vm has the case with a "
     "real handler."),
    ("known-holes", "Published holes of others",
     "Each hole that was found in a comparable product or in what it is built from, tried here."),
]  # fmt: skip

REQUIRED = ("family", "tries", "matters", "expect")
SINGLE = {*REQUIRED, "toolcall", "profile", "needs", "memory", "cpu", "timeout", "stdin", "host", "source"}
REPEATED = {"env", "arg"}
NEEDS = {"x86_64"}
# How the host looks at it besides: beside a neighbour that measures itself; on a terminal; as YAML
# and as JSON; in a second run; and where nothing inside can tell, by the outside alone.
HOST = {"neighbour", "terminal", "yaml", "json", "twice", "outside"}

# What `# expect:` may say beside the names of errors and signals: what an attempt reports, ...
WORDS = {
    "no effect": "the call is answered, and what it was for has not happened",
    "nothing found": "it looked everywhere it could and saw nothing",
    "own only": "it saw or changed what belongs to the run itself, and nothing else",
    "bounded": "it grew to a limit and no further",
    "soft": "the call is refused in a way that an honest program gets along with",
    "different": "two runs drew different values",
}  # fmt: skip
# ... and what the run's own end may be (status.reason).
REASONS = {
    "Completed": "the program ended by itself with 0, and the host saw nothing out of order",
    "Error": "the program ended by itself with another exit code",
    "Signaled": "a signal ended the program",
    "DeadlineExceeded": "the run was ended at its timeout",
    "OOMKilled": "the run was ended at its memory limit",
    "OutputLimitExceeded": "the run was ended for a flood of output",
    "ForbiddenSyscall": "the kernel ended the program at a system call",
}

HEAD_LINE = re.compile(r"# ([a-z]+): (\S.*)")
CONTINUED = re.compile(r"#   (\S.*)")
ERROR = re.compile(r"E[A-Z0-9]{2,}|SIG[A-Z0-9]+")


class CorpusError(Exception):
    """A head that can't be read: an expectation must not get lost by a typing mistake."""


class Attempt:
    def __init__(self, path, text, profile=SNIPPET):
        self.path = path
        self.profile = profile
        self.family = os.path.basename(os.path.dirname(path))
        self.name = os.path.basename(path).removesuffix(".py")
        self.text = text
        self.head = read_head(path, text)
        self.expect = self.expected_as(profile)
        self.host = self.head.get("host")
        self.check()

    @property
    def id(self):
        return f"{self.family}/{self.name}" + as_profile(self.profile)

    def expected_as(self, profile):
        expect = self.head["expect"]
        if profile == TOOL_CALL:
            expect = self.head.get("toolcall", expect)
        return [word.strip() for word in expect.split(",")]

    def is_for(self, profile):
        """Whether it says anything there."""
        return self.head.get("profile", profile) == profile

    def check(self):
        if self.head["family"] != self.family:
            raise CorpusError(f"{self.path}: the family is the directory, {self.family}")
        for word in {*self.expect, *self.expected_as(TOOL_CALL)}:
            if word not in WORDS and word not in REASONS and not ERROR.fullmatch(word):
                raise CorpusError(f"{self.path}: expect: {word}?")
        if self.host is not None and self.host not in HOST:
            raise CorpusError(f"{self.path}: host: {self.host}?")
        if self.head.get("profile", SNIPPET) != SNIPPET:
            raise CorpusError(f"{self.path}: profile: {self.head['profile']}?")
        if "toolcall" in self.head and not self.is_for(TOOL_CALL):
            raise CorpusError(f"{self.path}: toolcall, where it isn't tried")
        if self.needs() - NEEDS:
            raise CorpusError(f"{self.path}: needs: {self.head['needs']}?")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise CorpusError(f"{self.path}: the name is lower-case words and dashes")

    def needs(self):
        return set(self.head.get("needs", "").replace(",", " ").split())

    def missing(self):
        """Why this machine can't try it, or None."""
        if "x86_64" in self.needs() and os.uname().machine != "x86_64":
            return "for x86-64 only"
        return None

    def program(self):
        return program(self.text)

    def spec(self, canaries):
        """The spec of its run; canaries are variables that name what the host has set up."""
        env = {**canaries, "CANARY_PROFILE": self.profile}
        for pair in self.head.get("env", []):
            name, _, value = pair.partition("=")
            env[name] = value
        limits = {name: self.head[name] for name in ("memory", "cpu") if name in self.head}
        timeout_s = int(self.head.get("timeout", "10"))
        if "DeadlineExceeded" not in self.expect:  # a run that must come to its own end
            timeout_s = MAX_TIMEOUT_S if EMULATED else timeout_s
        spec = {"profile": self.profile, "code": self.program(), "timeoutSeconds": timeout_s,
                "env": [{"name": name, "value": value} for name, value in env.items()]}
        if limits:
            spec["resources"] = {"limits": limits}
        if "stdin" in self.head:
            spec["stdin"] = self.head["stdin"]
        if "arg" in self.head:
            spec["args"] = self.head["arg"]
        return spec


def as_profile(profile):
    """What stands behind the names of attempts in sandboxes of the profile."""
    return "" if profile == SNIPPET else f" as {profile}"


def prelude():
    with open(os.path.join(HERE, "attempt.py"), encoding="utf-8") as file:
        return file.read()


def program(text):
    """An attempt with its module `attempt`, on one line before it: line numbers shift by one."""
    return ("import sys, types; attempt = types.ModuleType('attempt'); "
            f"exec({prelude()!r}, attempt.__dict__); sys.modules['attempt'] = attempt; "
            f"del attempt\n{text}")


def read_head(path, text):
    lines = text.split("\n")
    if lines[0] != "# SPDX-License-Identifier: Apache-2.0":
        raise CorpusError(f"{path}: the first line is the licence")
    head, last = {}, None
    for line in lines[1:]:
        if not line.startswith("#"):
            break
        if last and (match := CONTINUED.fullmatch(line)):
            if last in REPEATED:
                raise CorpusError(f"{path}: {last} is one line")
            head[last] += " " + match[1]
            continue
        match = HEAD_LINE.fullmatch(line)
        if not match or match[1] not in SINGLE | REPEATED:
            raise CorpusError(f"{path}: can't read {line!r}")
        last, value = match[1], match[2]
        if last in REPEATED:
            head.setdefault(last, []).append(value)
        elif last in head:
            raise CorpusError(f"{path}: {last} twice")
        else:
            head[last] = value
    missing = [field for field in REQUIRED if field not in head]
    if missing:
        raise CorpusError(f"{path}: {', '.join(missing)} missing")
    return head


def load_file(path, profile=SNIPPET):
    with open(path, encoding="utf-8") as file:
        return Attempt(path, file.read(), profile)


def load_family(family, profile=SNIPPET):
    directory = os.path.join(HERE, family)
    found = [load_file(os.path.join(directory, name), profile)
             for name in sorted(os.listdir(directory)) if name.endswith(".py")]
    return [attempt for attempt in found if attempt.is_for(profile)]


def load(profile=SNIPPET):
    """{family: [attempt]} of all, in order."""
    return {family: load_family(family, profile) for family, _, _ in FAMILIES}
