# SPDX-License-Identifier: Apache-2.0
"""A small file system under a node's spool, which can be full."""

import contextlib
import errno
import os
import subprocess

from helpers.cluster import UID

SIZE = "16M"
FILL = "fill"  # an agent doesn't mind it


class Disk:
    def __init__(self, path):
        self.path = path
        os.mkdir(path, 0o700)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700,uid={UID},gid={UID}",
                        "sandboxrun-spool", path], check=True)

    def close(self):
        subprocess.run(["umount", "--lazy", self.path], check=True)

    def fill(self):
        """Not a byte is left, or those that an agent frees."""
        fd = os.open(os.path.join(self.path, FILL), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            size = os.fstat(fd).st_size
            while free := os.fstatvfs(fd).f_bavail * os.fstatvfs(fd).f_frsize:
                os.posix_fallocate(fd, size, free)
                size += free
        except OSError as problem:  # the agent was faster
            if problem.errno != errno.ENOSPC:
                raise
        finally:
            os.close(fd)

    def free(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, FILL))
