# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: names a process of the host as the owner of a pipe
# matters: it would get a signal from a stranger
# expect: ESRCH
import fcntl
import os

from attempt import canary, name_of, refused, through

read_end, write_end = os.pipe()
met = set()
for pid in map(int, canary("PIDS").split()):
    try:
        fcntl.fcntl(read_end, fcntl.F_SETOWN, pid)
    except OSError as error:
        met.add(name_of(error))
        continue
    if fcntl.fcntl(read_end, fcntl.F_GETOWN) == pid:
        through(f"owner {pid}")
    met.add("no effect")
refused(", ".join(sorted(met)))
