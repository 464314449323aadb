# SPDX-License-Identifier: Apache-2.0
"""What a sandbox that waits, and one that runs, has of memory.

Private is what only its own processes have (Private_Clean and Private_Dirty of smaps_rollup),
proportional adds its part of what is shared (Pss). All processes that are there for one sandbox
count: of a peer its supervisors too, of this project process 1 and the program. What is there once
for all sandboxes, such as the jailer, doesn't.
"""

import contextlib
import ctypes
import os
import subprocess
import time

import contenders as who
from figures import quantile
from helpers import jailer_protocol as protocol
from helpers.libc import checked, libc
from helpers.local import RUNTIMES, program
from helpers.wait import wait_until

# It says that it is there, and then does nothing for as long as anyone needs to look.
CODE = "import time; print(1, flush=True); time.sleep({seconds})"
PR_SET_CHILD_SUBREAPER = 36
MEASURED = ("Private_Clean", "Private_Dirty", "Pss")


def own_descendants_only():
    """From here on what daemonises itself below this process stays below it."""
    checked(libc.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0), "prctl")


def children(pid):
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def tree(pid):
    return [pid, *(below for child in children(pid) for below in tree(child))]


def used_kib(pids):
    total = dict.fromkeys(MEASURED, 0)
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            for line in rollup:
                name, _, rest = line.partition(":")
                if name in total:
                    total[name] += int(rest.split()[0])
    return {"private_kib": total["Private_Clean"] + total["Private_Dirty"],
            "proportional_kib": total["Pss"]}


def typical(samples):
    return {key: quantile([sample[key] for sample in samples], 0.5) for key in samples[0]}


def expanded(words, serial, code):
    return [word.replace("{code}", code).replace("{id}", f"sandboxrun-bench-{os.getpid()}-m{serial}")
            .replace("{worker}", str(serial)) for word in words]


def parts(words):
    """Of a run that is several commands: those before the program's, that one, those behind it."""
    commands = [[]]
    for word in words:
        if word == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    at = next((i for i, command in enumerate(commands) if "{code}" in command), 0)
    return commands[:at], commands[at], commands[at + 1:]


def of_spawned(contender, count, seconds, prefix):
    """Of the whole trees of count commands that run at the same time."""
    code = CODE.format(seconds=seconds)
    before, words, after = parts(contender.line[1:])
    for command in before:
        for i in range(count):
            subprocess.run(expanded(command, i, code), check=True, stdout=subprocess.DEVNULL)
    strays = set(children(os.getpid()))
    started = [subprocess.Popen([*prefix, *expanded(words, i, code)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
               for i in range(count)]
    try:
        for process in started:
            if process.stdout.read(1) != b"1":
                raise RuntimeError(f"{contender.name} printed nothing")
        pids = [pid for process in started for pid in tree(process.pid)]
        others = set(children(os.getpid())) - strays - {process.pid for process in started}
        pids += [pid for child in others for pid in tree(child)]
        total = used_kib(pids)
        return {key: value // count for key, value in total.items()}
    finally:
        for process in started:
            process.stdout.close()
            process.wait(60)
        for command in after:
            for i in range(count):
                subprocess.run(expanded(command, i, code), check=True)
        reap_strays()


def reap_strays():
    """What a command has left behind and has ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass


def of_prestarted(contender, count):
    started = []
    try:
        for _ in range(count):
            process = subprocess.Popen(contender.line[1:], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
            started.append(process)
            process.stdout.read(1)
        return typical([used_kib([process.pid]) for process in started])
    finally:
        for process in started:
            process.communicate()


def reapers(jailer):
    """The processes 1 of its sandboxes, each with the program below it."""
    found = [child for child in children(jailer.process.pid) if comm(child) == "reaper"]
    return [tree(pid) for pid in found if children(pid)]


def comm(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
            open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().strip()
    return ""


def own_jailer(contender):
    """With the options that bench_node gives it, but for those that the protocol's end adds."""
    options = contender.line[4:]
    for name in ("--fd", "--runtimes-dir", "--log-format", "--log-level"):
        at = options.index(name)
        options = options[:at] + options[at + 2:]
    return protocol.Jailer(program("sandboxrun-jailer"), RUNTIMES, *options)


def of_waiting(jailer, count):
    wait_until(f"{count} sandboxes to wait", lambda: len(reapers(jailer)) >= count, 60)
    time.sleep(1)  # the last of them has still to say that it is there
    return typical([used_kib(pids) for pids in reapers(jailer)])


def sleeping(jailer):
    """Those whose program sleeps, which one that waits for its request doesn't."""
    found = []
    for pids in reapers(jailer):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f"/proc/{pids[-1]}/wchan", encoding="ascii") as wchan:
            if "nanosleep" in wchan.read():
                found.append(pids)
    return found


def of_running(jailer, count, seconds):
    connection = jailer.connection
    request = protocol.encode_request(CODE.format(seconds=seconds) + "\n")
    runs = []
    for _ in range(count):
        sandbox = connection.create(**protocol.AS_SNIPPET)
        kind, fields, fds = connection.receive_about(sandbox)
        if kind != protocol.CREATED:
            raise RuntimeError(f"refused: {fields}")
        connection.send(protocol.START, id=sandbox, timeout_ms=20000)
        os.write(fds[0], request)
        os.close(fds[0])
        runs.append((sandbox, fds))
    wait_until("the programs to sleep", lambda: len(sleeping(jailer)) == count, seconds)
    samples = [used_kib(pids) for pids in sleeping(jailer)]
    for sandbox, fds in runs:
        connection.receive_about(sandbox, 60)
        for fd in fds[1:]:
            os.close(fd)
    return typical(samples)


def measure(contenders, directory, prefix, count, seconds):
    """By name: what a waiting one has, where there is such a thing, and what a running one has."""
    own_descendants_only()
    asleep = {one.name: one for one in who.peers(directory, CODE.format(seconds=seconds))}
    found = {}
    for one in contenders:
        try:
            found[one.name] = of_one(asleep.get(one.name, one), prefix, count, seconds)
        except (AssertionError, OSError, RuntimeError) as error:
            found[one.name] = {"failed": str(error)}
    return found


def of_one(contender, prefix, count, seconds):
    kind = contender.line[0]
    if kind == "prestarted":
        return {"waiting": of_prestarted(contender, count)}
    if kind == "spawned":
        return {"running": of_spawned(contender, count, seconds, prefix)}
    with own_jailer(contender) as jailer:
        found = {"waiting": of_waiting(jailer, who.POOL_SIZE)} if contender.pooled else {}
        return found | {"running": of_running(jailer, count, seconds)}
