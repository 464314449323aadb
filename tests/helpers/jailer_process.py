# SPDX-License-Identifier: Apache-2.0
"""A jailer's process as /proc shows it."""

import contextlib
import os

from helpers import kinds

# MAX_READY_NETNS of the jailer.
READY_NETNS = 4


def children_of(jailer):
    """Pids of the jailer's children by name: reapers and helpers. Where tests are run for sandboxes
    that have waited, without the reapers of those that still do."""
    pid = jailer.process.pid
    named = {}
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        for child in children.read().split():
            # One that has ended meanwhile is none.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                    open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                if not kinds.current.waits(cgroup_of(child)):
                    named.setdefault(comm.read().strip(), []).append(int(child))
    return named


def cgroup_of(pid):
    """The last part of the path of the process's cgroup."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        return max((line.strip().rpartition("/")[2] for line in file), key=len)


def descriptors_of(jailer):
    """What the jailer's descriptors lead to, and how many network namespaces it has ready."""
    directory = f"/proc/{jailer.process.pid}/fd"
    links = []
    for name in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(os.path.join(directory, name)))
    ready = [link for link in links if link.startswith("net:")]
    return sorted(link for link in links if link not in ready), len(ready)
