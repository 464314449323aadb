# SPDX-License-Identifier: Apache-2.0
"""A cgroup as a container has it: further down in every hierarchy, with the controllers, and one
process that starts in it."""

import contextlib
import errno
import os
import time

CONTROLLERS = {"memory", "cpu", "cpuacct", "pids"}
ENABLE = "+memory +cpu +pids"
WITHIN_S = 20


def _hierarchies():
    """(mount point, is it v2) of each that a jailer uses."""
    v1, v2 = [], []
    with open("/proc/self/mountinfo", encoding="utf-8") as mountinfo:
        for line in mountinfo:
            fields = line.split()
            kind, _, options = fields[fields.index("-") + 1 :]
            if kind == "cgroup" and CONTROLLERS & set(options.split(",")):
                v1.append((fields[4], False))
            elif kind == "cgroup2":
                v2.append((fields[4], True))
    # A hybrid host has its controllers in v1.
    return v1 or v2


def _write(path, name, text):
    with open(os.path.join(path, name), "w", encoding="ascii") as file:
        file.write(text)


def _remove(top):
    """What was killed a moment ago may still be inside."""
    deadline = time.monotonic() + WITHIN_S
    while True:
        try:
            for path, _, _ in os.walk(top, topdown=False):
                os.rmdir(path)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


@contextlib.contextmanager
def pod_cgroup(name):
    """Yields a wrapper that starts a program inside. name is that of the directory at the root of
    the hierarchies; what is left below it at the end is removed."""
    inner, tops = [], []
    for point, is_v2 in _hierarchies():
        top = os.path.join(point, name)
        tops.append(top)
        if is_v2:
            _write(point, "cgroup.subtree_control", ENABLE)
        os.mkdir(top)
        if is_v2:
            _write(top, "cgroup.subtree_control", ENABLE)
        inner.append(os.path.join(top, "container"))
        os.mkdir(inner[-1])
    enter = "\n".join(f"echo $$ >{path}/cgroup.procs" for path in inner)
    try:
        yield ("sh", "-ec", enter + '\nexec "$@"', "sh")
    finally:
        for top in tops:
            _remove(top)
