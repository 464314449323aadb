# SPDX-License-Identifier: Apache-2.0
"""The wall clock of single processes, which clock_shift.c sets."""

import os
import shutil
import struct

from helpers.cluster import BIN

LIBRARY = os.path.join(os.path.dirname(BIN), "tests/faults/libclock_shift.so")
SHIFT = struct.Struct("=q")


class Clocks:
    def __init__(self, directory):
        self.dir = directory
        # Where those who run without privilege can read it.
        self.library = shutil.copy(LIBRARY, directory)
        self.paths = {}

    def words(self, part):
        """Before the command of a part."""
        if part not in self.paths:
            self.paths[part] = os.path.join(self.dir, f"{part}.clock")
            self.set(part, 0)
            os.chmod(self.paths[part], 0o644)
        return ("env", f"LD_PRELOAD={self.library}", f"CLOCK_SHIFT_FILE={self.paths[part]}")

    def set(self, part, seconds):
        """How far it is ahead."""
        fd = os.open(self.paths[part], os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, SHIFT.pack(seconds), 0)
        os.close(fd)
