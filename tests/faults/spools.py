# SPDX-License-Identifier: Apache-2.0
"""Sees from outside which results lie in the nodes' spools, or have lain there."""

import os
import struct

from helpers.libc import buffers, checked, libc

IN_NONBLOCK, IN_CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC
IN_MOVED_TO, IN_Q_OVERFLOW = 0x80, 0x4000
EVENT = struct.Struct("=iIII")
PREFIX = "run-"


class Spools:
    """The sandboxes whose result an agent has kept: it renames it over the mark of the start."""

    def __init__(self):
        self.results = set()
        self.fd = checked(libc.inotify_init1(IN_NONBLOCK | IN_CLOEXEC), "inotify_init1")

    def close(self):
        os.close(self.fd)

    def watch(self, directory):
        checked(libc.inotify_add_watch(self.fd, os.fsencode(directory), IN_MOVED_TO),
                "inotify_add_watch")

    def take(self):
        """Takes the events that have come."""
        for events in buffers(self.fd):
            while events:
                _, mask, _, length = EVENT.unpack_from(events)
                name = events[EVENT.size:EVENT.size + length].rstrip(b"\0").decode()
                events = events[EVENT.size + length:]
                if mask & IN_Q_OVERFLOW:
                    raise AssertionError("the kernel has lost events of the spools")
                if name.startswith(PREFIX):
                    self.results.add(name.removeprefix(PREFIX))
