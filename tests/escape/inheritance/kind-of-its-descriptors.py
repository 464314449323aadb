# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for a file, a directory or a socket behind 0, 1 and 2
# matters: a file of the host could be read, truncated or mapped through it
# expect: own only
import os
import stat

from attempt import refused, through

for fd in (1, 2):
    if not stat.S_ISFIFO(os.fstat(fd).st_mode):
        through(f"descriptor {fd} has mode {os.fstat(fd).st_mode:o}")
if os.readlink("/proc/self/fd/0") != "/dev/null":
    through(os.readlink("/proc/self/fd/0"))
refused("own only")
