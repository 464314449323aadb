# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: reads the limits of process 1 and of processes of the host
# matters: the call that reads also sets
# expect: EPERM
from attempt import REAPER, canary, each, syscall

each({f"of {pid}": lambda pid=pid: syscall("prlimit64", pid, 7, None, bytes(16))
      for pid in (REAPER, *map(int, canary("PIDS").split()))})
