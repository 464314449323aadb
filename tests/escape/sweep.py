# SPDX-License-Identifier: Apache-2.0
"""Every system call number, by every entry of this machine, held against the policy file.

Each number is called with invalid arguments in a child of its own. What the policy says is worked
out here from the JSON as it stands, with the very arguments; what the kernel did is the child's
errno or its end. Calls that a condition allows or refuses are called once for each rule besides.
"""

import errno
import json
import os
import signal

import attempt
import corpus
from helpers.local import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
POLICIES = {corpus.SNIPPET: os.path.join(ROOT, "seccomp/snippet.json"),
            corpus.TOOL_CALL: os.path.join(ROOT, "seccomp/tool-call.json")}
ALL_ONES = 0xFFFFFFFFFFFFFFFF
X32_BIT = 0x40000000
# This machine in a rule's "includes".
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
# Beyond the last number of today's kernels, what comes next, and the ends of the range.
BEYOND = (*range(471, 512), 0x3FFFFFFF, 0x7FFFFFFF)
# Refusals are reported up to a number; beyond it they may look different.
CHUNK = 100

# Errors that mean a refusal by the filter. A call that is allowed never answers one of these to
# the arguments that it gets here.
REFUSALS = {"EPERM": 1, "ENOSYS": 38, "EOPNOTSUPP": 95, "EAFNOSUPPORT": 97}

# Arguments for calls that would do something, or answer like a filter, with all bits set:
# {name: {index: value}}.
KNOWING = {
    "kill": {0: 0x7FFFFFF0},  # nobody; -1 is everybody
    "futex": {1: 0},  # FUTEX_WAIT; an unknown operation is answered ENOSYS
    "clone": {1: 0, 2: 0, 3: 0, 4: 0},  # no stack of its own
}
# Calls that the kernel itself puts at places that it has chosen, and lets past every filter since
# Linux 6.15: from anywhere else they end the process or say that this is no such place.
PAST_EVERY_FILTER = {"uretprobe": "SIGILL", "uprobe": -6}
# These are made as `vfork` and `clone` are: the child that they make ends at once.
MAKES_A_CHILD = {"clone", "vfork", "fork"}

ENTRIES = {
    "x86-64": "the native entry",
    "x32": "the entry of x32 programs: bit 30 of the number",
    "i386": "the entry of 32-bit programs: int 0x80",
    "arm64": "the native entry",
}


def table(name):
    """{number: name} of a table file."""
    with open(os.path.join(HERE, "numbers", name + ".txt"), encoding="ascii") as file:
        return {int(line.split()[0]): line.split()[1] for line in file if not line.startswith("#")}


def entries():
    """The entries that this machine has."""
    return ["x86-64", "x32", "i386"] if os.uname().machine == "x86_64" else ["arm64"]


class Policy:
    def __init__(self, profile=corpus.SNIPPET):
        self.profile = profile
        with open(POLICIES[profile], encoding="utf-8") as file:
            self.data = json.load(file)
        self.rules = {}
        for rule in self.data["syscalls"]:
            if ARCH not in rule.get("includes", {}).get("arches", [ARCH]):
                continue
            for name in rule["names"]:
                self.rules.setdefault(name, []).append(rule)

    def verdict(self, name, arguments):
        """"allow", "kill" or the number of an error."""
        found = {self.action(rule) for rule in self.rules.get(name, [])
                 if all(holds(condition, arguments) for condition in rule.get("args", []))}
        if len(found) > 1:
            raise AssertionError(f"{name}{arguments}: the policy says {found}")
        return found.pop() if found else self.data["defaultErrnoRet"]

    @staticmethod
    def action(rule):
        return {"SCMP_ACT_ALLOW": "allow", "SCMP_ACT_KILL_PROCESS": "kill"}.get(
            rule["action"], rule.get("errnoRet"))

    def conditions(self, name):
        """Arguments that make each conditional rule of a call hold: [{index: value}]."""
        return [{condition["index"]: fitting(condition) for condition in rule["args"]}
                for rule in self.rules.get(name, []) if rule.get("args")]


def holds(condition, arguments):
    have, value = arguments[condition["index"]], condition["value"]
    return {
        "SCMP_CMP_EQ": have == value, "SCMP_CMP_NE": have != value,
        "SCMP_CMP_LT": have < value, "SCMP_CMP_LE": have <= value,
        "SCMP_CMP_GT": have > value, "SCMP_CMP_GE": have >= value,
        "SCMP_CMP_MASKED_EQ": have & value == condition.get("valueTwo"),
    }[condition["op"]]  # fmt: skip


def fitting(condition):
    value = condition["value"]
    return {"SCMP_CMP_NE": value ^ 1, "SCMP_CMP_LT": value - 1, "SCMP_CMP_GT": value + 1,
            "SCMP_CMP_MASKED_EQ": condition.get("valueTwo")}.get(condition["op"], value)


class Call:
    """One call: entry, number, name if it has one, arguments, and what must come of it."""

    def __init__(self, entry, number, name, arguments, wanted):
        self.entry, self.number, self.name = entry, number, name
        self.arguments, self.wanted = arguments, wanted

    def __str__(self):
        given = ", ".join("-1" if a == ALL_ONES else f"{a:#x}" for a in self.arguments)
        return f"{self.entry} {self.number} {self.name or '(no name)'}({given})"

    def fails(self, got):
        """Why the outcome isn't what the policy says, or None. An outcome is `killed`, `ended`,
        `blocked`, or the number that came back."""
        if got == PAST_EVERY_FILTER.get(self.name, ""):
            return None
        if self.wanted == "kill":
            return None if got == "SIGSYS" else f"must be killed, got {got}"
        if self.wanted == "allow":
            bad = got == "SIGSYS" or (isinstance(got, int) and -got in REFUSALS.values())
            return f"must be allowed, got {got}" if bad else None
        return None if got == -self.wanted else f"must answer -{self.wanted}, got {got}"

    def is_unknown(self, got):
        """Whether an allowed call answers ENOSYS because this kernel is older than it: so it does
        to a process outside, whose user is nobody."""
        if (self.wanted, got) != ("allow", -errno.ENOSYS):
            return False
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                attempt.syscall(self.number, *self.arguments)
            except OSError as error:
                os._exit(error.errno == errno.ENOSYS)
            finally:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def native(entry, policy):
    names = table("x86_64" if entry == "x86-64" else "aarch64")
    found = []
    for number in (*range(max(names) + 1), *BEYOND):
        name = names.get(number)
        variants = [{}] + (policy.conditions(name) if name else [])
        seen = []
        for variant in variants:
            arguments = [ALL_ONES] * 6
            for index, value in {**KNOWING.get(name, {}), **variant}.items():
                arguments[index] = value
            if arguments in seen:
                continue
            seen.append(arguments)
            wanted = policy.verdict(name, arguments)
            if entry == "x86-64" and number & X32_BIT:
                wanted = "kill"
            found.append(Call(entry, number, name, arguments, wanted))
    return found


def foreign(entry):
    """Whatever it is, the process ends."""
    names = table("i386") if entry == "i386" else {**table("x86_64"), **table("x32")}
    bit = X32_BIT if entry == "x32" else 0
    numbers = [number for number in (*range(max(names) + 1), *BEYOND) if number < X32_BIT]
    return [Call(entry, number | bit, names.get(number), [ALL_ONES] * 6, "kill")
            for number in numbers]


def calls(entry, policy):
    return native(entry, policy) if entry in ("x86-64", "arm64") else foreign(entry)


# Runs inside, behind attempt.py. A child makes the call from machine code and passes on what came
# back; one that is still in the call after a while is blocked, one that ends by it has ended.
PROGRAM = """
import json, os, signal, struct, sys
from attempt import machine_code, syscall

CALLS = json.loads({calls!r})
# mov to rax, rdi, rsi, rdx, r10, r8, r9 of 64 bits; to eax, ebx, ecx, edx, esi, edi of 32.
REGISTERS = [bytes.fromhex(code) for code in "48b8 48bf 48be 48ba 49ba 49b8 49b9".split()]
LOW = [bytes.fromhex(code) for code in "b8 bb b9 ba be bf".split()]
NATIVE = b"\\x0f\\x05"
CHILD = bytes.fromhex("85c0750cb83c000000bf630000000f05")  # who gets 0 exits with 99

def function(entry, number, arguments, makes_a_child):
    if os.uname().machine != "x86_64":
        def call():
            try:
                result = syscall(number, *arguments)
            except OSError as error:
                return -error.errno
            if makes_a_child and result == 0:
                os._exit(99)
            return result
        return call
    if entry == "i386":
        # The base pointer, the sixth argument, is left alone: the code must return.
        code = b"\\x53" + b"".join(low + struct.pack("<I", value & 0xffffffff)
                                  for low, value in zip(LOW, [number, *arguments[:5]]))
        return machine_code(code + b"\\xcd\\x80\\x5b\\xc3")
    code = b"".join(register + struct.pack("<Q", value & 0xffffffffffffffff)
                    for register, value in zip(REGISTERS, [number, *arguments]))
    return machine_code(code + NATIVE + (CHILD if makes_a_child else b"") + b"\\xc3")

def outcome(entry, number, arguments, makes_a_child):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        call = function(entry, number, arguments, makes_a_child)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        result = call()
        os.write(write_end, struct.pack("q", result))
        os._exit(0)
    os.close(write_end)
    data = os.read(read_end, 8)
    os.close(read_end)
    status = os.waitpid(child, 0)[1]
    if data:
        return struct.unpack("q", data)[0]
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return "blocked" if name == "SIGALRM" else name
    return "ended"

print(json.dumps([outcome(*call) for call in CALLS]))
"""


def program(chunk):
    return PROGRAM.format(calls=json.dumps(
        [[call.entry, call.number, call.arguments, call.name in MAKES_A_CHILD] for call in chunk]))


def chunks(found):
    """As many at a time as go together; by the native entry a forbidden call may end the run."""
    alone = [call for call in found if call.wanted == "kill" and call.entry not in ("x32", "i386")]
    others = [call for call in found if call not in alone]
    return [[call] for call in alone] + [others[at:at + CHUNK]
                                         for at in range(0, len(others), CHUNK)]


def outcomes(chunk, status):
    """What came of each call of a chunk; None if the run's end doesn't tell."""
    if status["reason"] == "ForbiddenSyscall" and len(chunk) == 1:
        return ["SIGSYS"]
    return json.loads(status["stdout"]) if status["reason"] == "Completed" else None
