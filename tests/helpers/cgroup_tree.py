# SPDX-License-Identifier: Apache-2.0
"""The cgroups of jailers on this machine, whichever version they use."""

import contextlib
import glob
import os

from helpers import kinds

ROOT = "/sys/fs/cgroup"
# Of what sandboxes are forked from, beside theirs.
ZYGOTES = "zygote-"


def _bases(parent):
    """PARENT in the v2 hierarchy and in every v1 one."""
    return [*glob.glob(os.path.join(ROOT, parent)), *glob.glob(os.path.join(ROOT, "*", parent))]


def _below(parent, *pattern):
    return sorted(path.rstrip("/") for base in _bases(parent)
                  for path in glob.glob(os.path.join(base, *pattern, "")))


def sandboxes_below(parent, depth=2):
    """Cgroups of live sandboxes below a jailer's parent; with depth=1 the jailers' own. Where tests
    are run for sandboxes that have waited, those that still do are left out."""
    return [path for path in _below(parent, *["jailer-*", "*"][:depth])
            if depth == 1 or not (os.path.basename(path).startswith(ZYGOTES)
                                  or kinds.current.waits(os.path.basename(path)))]


def zygotes_below(parent):
    """Pids of what sandboxes are forked from below a jailer's parent."""
    found = set()
    for path in _below(parent, "jailer-*", ZYGOTES + "*"):
        with contextlib.suppress(OSError), open(os.path.join(path, "cgroup.procs"),
                                                encoding="ascii") as file:
            found.update(map(int, file.read().split()))
    return found


def processes_by_sandbox(parent):
    """The pids in each sandbox below a jailer's parent in which something lives, by its id."""
    found = {}
    for path in sandboxes_below(parent):
        try:
            with open(os.path.join(path, "cgroup.procs"), encoding="ascii") as file:
                pids = set(map(int, file.read().split()))
        except OSError:
            continue  # it went meanwhile
        if pids:
            found.setdefault(os.path.basename(path), set()).update(pids)
    return found


def processes_below(parent):
    """Pids of everything that lives in a sandbox below a jailer's parent."""
    return set().union(*processes_by_sandbox(parent).values())


def parent_is_gone(parent):
    return not _bases(parent)
