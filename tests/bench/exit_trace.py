# SPDX-License-Identifier: Apache-2.0
"""exit_trace.py FILE COMMAND...: runs a command while the kernel notes when processes begin to end
and when their parents are told, by the clock CLOCK_MONOTONIC; lines "NS EVENT COMM" go to FILE.

Uses tracefs in an instance of its own. Where there is none the command runs all the same and FILE
is empty. To be started in a mount namespace of its own, in which tracefs can be mounted.
"""

import os
import re
import subprocess
import sys

TRACEFS = "/sys/kernel/tracing"
INSTANCE = f"{TRACEFS}/instances/sandboxrun-bench-{os.getpid()}"
# The second one names who is told; of all signals only the death of a child is of interest.
EVENTS = {"sched/sched_process_exit": None, "signal/signal_generate": "sig==17"}
LINE = re.compile(r"\s(\d+)\.(\d{6}): (\w+): .*?\bcomm=(.+?) pid=")


def write(name, text):
    with open(f"{INSTANCE}/{name}", "w", encoding="ascii") as file:
        file.write(text)


def begin():
    if not os.path.exists(f"{TRACEFS}/instances"):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], check=True,
                       stderr=subprocess.DEVNULL)
    os.mkdir(INSTANCE)
    write("trace_clock", "mono")
    for event, keep in EVENTS.items():
        if keep:
            write(f"events/{event}/filter", keep)
        write(f"events/{event}/enable", "1")


def end(file):
    for event in EVENTS:
        write(f"events/{event}/enable", "0")
    with open(f"{INSTANCE}/trace", encoding="utf-8", errors="replace") as trace:
        for line in trace:
            if found := LINE.search(line):
                seconds, micros, event, comm = found.groups()
                file.write(f"{(int(seconds) * 1000000 + int(micros)) * 1000} {event} {comm}\n")
    os.rmdir(INSTANCE)


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        try:
            begin()
            traces = True
        except (OSError, subprocess.CalledProcessError):
            traces = False
        status = subprocess.run(sys.argv[2:], check=False).returncode
        if traces:
            end(file)
    return status


if __name__ == "__main__":
    sys.exit(main())
