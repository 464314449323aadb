# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: links in its writable directories for a root process that changes owners there
# matters: Tencent/WeKnora#2769: root changed the owner of a path below a directory that the user
#   could write; CVE-2024-28189 in judge0 was the same
# source: S8
# expect: Completed
import os

from attempt import canary

for place in ("/tmp", "/home/sandbox", "/dev/shm"):
    for name in ("run", ".cache", "matplotlib", "tmp", "box"):
        os.symlink(canary("FILE"), os.path.join(place, name))
