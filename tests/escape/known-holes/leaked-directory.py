# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: walks out by a directory that the runtime left open, by number, through /proc/self/fd
# matters: CVE-2024-21626: /proc/self/fd/7/../../.. was the host
# expect: ENOENT, ENOTDIR
import os

from attempt import canary, each

path = canary("FILE").lstrip("/")
tries = {}
for fd in range(64):
    tries[f"descriptor {fd}"] = lambda fd=fd: os.open(f"/proc/self/fd/{fd}/../../../../{path}",
                                                      os.O_RDONLY)
    tries[f"working directory {fd}"] = lambda fd=fd: os.chdir(f"/proc/self/fd/{fd}")
each(tries)
