# SPDX-License-Identifier: Apache-2.0
"""Counts from outside how often a program has run, with no hole in the sandbox for it.

The runtime of this test's nodes has a directory of marks, small files that a program can only read,
like everything else there. Reading one is seen by the kernel's fanotify on the host, before read()
returns, whatever is killed afterwards: one event for each process that reads. The jailer itself
opens the files of a runtime, but reads none.
"""

import collections
import ctypes
import os
import shutil
import struct
import subprocess

from helpers.libc import buffers, checked, libc
from helpers.local import RUNTIMES

RUNTIME = "python3.12"
INSIDE = "/marks"

FAN_CLOEXEC, FAN_NONBLOCK, FAN_UNLIMITED_QUEUE = 0x1, 0x2, 0x10
FAN_MARK_ADD = 0x1
FAN_ACCESS, FAN_Q_OVERFLOW, FAN_EVENT_ON_CHILD = 0x1, 0x4000, 0x08000000
AT_FDCWD = -100
EVENT = struct.Struct("=IBBHQii")


def code_of(mark):
    """What a program has to say to leave that mark."""
    return (f"fd = os.open('{INSIDE}/{mark}', os.O_RDONLY)\n"
            "os.read(fd, 1)\nos.close(fd)\n")


class Marks:
    """A copy of the runtimes in a directory, with marks; how often each was read so far.

    read: the pids that have read a mark, by its name.
    """

    def __init__(self, directory):
        self.runtimes = directory
        os.mkdir(directory, 0o755)
        # Links, not copies: that takes no time, and nothing in it is written to.
        subprocess.run(["cp", "-al", os.path.join(RUNTIMES, RUNTIME), directory], check=True)
        self.dir = os.path.join(directory, RUNTIME, INSIDE.strip("/"))
        os.mkdir(self.dir, 0o755)
        self.read = collections.defaultdict(list)
        self.fd = checked(libc.fanotify_init(FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE,
                                             os.O_RDONLY | os.O_CLOEXEC), "fanotify_init")
        checked(libc.fanotify_mark(self.fd, FAN_MARK_ADD,
                                   ctypes.c_uint64(FAN_ACCESS | FAN_EVENT_ON_CHILD), AT_FDCWD,
                                   os.fsencode(self.dir)), "fanotify_mark")

    def close(self):
        os.close(self.fd)
        shutil.rmtree(self.runtimes)

    def add(self, name):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("1")
        os.chmod(path, 0o444)

    def remove(self, name):
        os.unlink(os.path.join(self.dir, name))
        self.read.pop(name, None)

    def take(self):
        """Takes the events that have come."""
        for events in buffers(self.fd):
            while events:
                length, _, _, _, mask, fd, pid = EVENT.unpack_from(events)
                events = events[length:]
                if mask & FAN_Q_OVERFLOW:
                    raise AssertionError("the kernel has lost events of the marks")
                self.read[os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))].append(pid)
                os.close(fd)
