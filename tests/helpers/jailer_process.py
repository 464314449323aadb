# SPDX-License-Identifier: Apache-2.0
"""A jailer's process as /proc shows it."""

import contextlib
import os

# MAX_READY_NETNS of the jailer.
READY_NETNS = 4


def children_of(jailer):
    """Pids of the jailer's children by name: reapers and helpers."""
    pid = jailer.process.pid
    named = {}
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        for child in children.read().split():
            # One that has ended meanwhile is none.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                    open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                named.setdefault(comm.read().strip(), []).append(int(child))
    return named


def descriptors_of(jailer):
    """What the jailer's descriptors lead to, and how many network namespaces it has ready."""
    directory = f"/proc/{jailer.process.pid}/fd"
    links = []
    for name in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(os.path.join(directory, name)))
    ready = [link for link in links if link.startswith("net:")]
    return sorted(link for link in links if link not in ready), len(ready)
