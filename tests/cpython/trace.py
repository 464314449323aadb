# SPDX-License-Identifier: Apache-2.0
"""Which system calls programs make when nothing is refused, and what a policy would say to them.

    trace.py POLICY FILE...             files of CPython's tests, as a plain user; all: every one
    trace.py POLICY --program PROGRAM RUNTIME
                                        a Python program in the root file system of a runtime

Needs root, strace, and for the tests the runtime that run.sh makes. Prints which allowed calls
were made, which were not, and which calls the policy refuses.
"""

import collections
import concurrent.futures
import json
import os
import re
import sys
import tempfile

import compare
import plan
import run
import sides

CALL = re.compile(r"^\d+ +(\w+)\((.*)$")
# What the launcher does before the program's interpreter starts isn't the program's.
START = re.compile(r'^\d+ +execve\("/usr/bin/python3"')
# Every interpreter makes these by the thousand; leaving them out makes tracing bearable.
ASSUMED = """brk clock_gettime close fstat futex getdents64 getpid gettid lseek mmap mprotect
    munmap newfstatat openat read readlink rt_sigaction rt_sigprocmask write""".split()
MAX_ARGS = 6
LOWEST_POINTER = 1 << 32
# This machine in a rule's "includes".
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)


def load(path):
    """{call: [rule]} of a policy."""
    with open(path, encoding="utf-8") as file:
        policy = json.load(file)
    rules = collections.defaultdict(list)
    for rule in policy["syscalls"]:
        if ARCH not in rule.get("includes", {}).get("arches", [ARCH]):
            continue
        for name in rule["names"]:
            rules[name].append(rule)
    return rules


def holds(arg, args):
    value, operand = args[arg["index"]], arg["value"]
    return {
        "SCMP_CMP_EQ": value == operand, "SCMP_CMP_NE": value != operand,
        "SCMP_CMP_LT": value < operand, "SCMP_CMP_LE": value <= operand,
        "SCMP_CMP_GT": value > operand, "SCMP_CMP_GE": value >= operand,
        "SCMP_CMP_MASKED_EQ": value & operand == arg.get("valueTwo", 0),
    }[arg["op"]]


def answer(rules, name, args):
    """What the policy says to one call."""
    for rule in rules.get(name, []):
        if all(holds(arg, args) for arg in rule.get("args", [])):
            action = rule["action"].removeprefix("SCMP_ACT_")
            return f"{action} {rule['errnoRet']}" if "errnoRet" in rule else action
    return "ERRNO 38"


def numbers(text):
    """The raw arguments of a call, as far as strace could tell them."""
    text = re.split(r"\)? +<unfinished|\) += ", text)[0]
    values = []
    for part in text.split(", ")[:MAX_ARGS]:
        try:
            values.append(int(part, 0))
        except ValueError:
            values.append(0)
    return values + [0] * (MAX_ARGS - len(values))


def count(rules, lines):
    """Counter of (call, the arguments that a condition looks at)."""
    counts, started = collections.Counter(), False
    for line in lines:
        started = started or bool(START.match(line))
        match = CALL.match(line) if started else None
        if not match:
            continue
        name, args = match[1], numbers(match[2])
        looked_at = sorted({arg["index"] for rule in rules.get(name, [])
                            for arg in rule.get("args", [])})
        counts[name, tuple((index, args[index]) for index in looked_at)] += 1
    return counts


def text_of(value):
    """An argument; every pointer is one and the same."""
    return "pointer" if LOWEST_POINTER <= value < 1 << 47 else f"{value:#x}"


def show(rules, counts):
    used, refused = set(ASSUMED), collections.Counter()
    for (name, looked_at), n in counts.items():
        args = [0] * MAX_ARGS
        for index, value in looked_at:
            args[index] = value
        said = answer(rules, name, args)
        if said == "ALLOW":
            used.add(name)
        else:
            shown = ", ".join(f"arg {index} = {text_of(value)}" for index, value in looked_at)
            refused[name, said, shown] += n
    allowed = {name for name, several in rules.items()
               if any(rule["action"] == "SCMP_ACT_ALLOW" for rule in several)}
    print(f"allowed and called: {len(used & allowed)}")
    print(f"allowed and never called: {' '.join(sorted(allowed - used))}")
    print("called and refused (times, call, answer, arguments that the rules look at):")
    for (name, said, shown), n in sorted(refused.items()):
        print(f"  {n:6}  {name}  {said}  {shown}")


def traced(rules, start):
    """Counts of the calls that start(trace) makes, which puts `trace` before its command."""
    with tempfile.TemporaryDirectory(prefix="sandboxrun-trace-") as directory:
        output = os.path.join(directory, "calls")
        start(f"strace -f -qq --seccomp-bpf -e signal=none -e trace=!{','.join(ASSUMED)} "
              f"-e raw=!execve -o {output}")
        with open(output, encoding="utf-8", errors="replace") as lines:
            return count(rules, lines)


def run_files(rules, files):
    """Counts of the calls of files of tests, and how many methods passed meanwhile."""
    counts, passed = collections.Counter(), 0

    def one(file):
        n = 0

        def start(trace):
            nonlocal n
            outcomes, _ = sides.outside([plan.make_item(file)], run.RESOURCES, trace)
            n = sum(len(compare.passing(outcome.tests)) for outcome in outcomes)

        return traced(rules, start), n

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for these, n in pool.map(one, files):
            counts += these
            passed += n
    print(f"{len(files)} files of tests, {passed} methods passed while they were traced")
    return counts


def run_program(rules, program, runtime):
    def start(trace):
        status, stdout, stderr = sides.enter(runtime, program, "", None, trace)
        print(stdout, end="")
        if status != 0:
            raise RuntimeError(f"{program} ended with {status}: {stderr}")

    return traced(rules, start)


def main(argv):
    if len(argv) < 3 or argv[1].startswith("-") or (argv[2] == "--program" and len(argv) != 5):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    rules = load(argv[1])
    if argv[2] == "--program":
        counts = run_program(rules, *argv[3:])
    else:
        counts = run_files(rules, run.list_files()[0] if argv[2:] == ["all"] else argv[2:])
    show(rules, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
