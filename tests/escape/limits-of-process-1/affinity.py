# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: binds process 1 to one processor
# matters: the one that the program keeps busy
# expect: EPERM
from attempt import REAPER, canary, each, syscall

each({f"of {pid}": lambda pid=pid: syscall("sched_setaffinity", pid, 8, (1).to_bytes(8, "little"))
      for pid in (REAPER, *map(int, canary("PIDS").split()))})
