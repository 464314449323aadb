# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: signals the process group of a process of the host
# matters: groups are found by another table than pids
# expect: ESRCH
import os
import signal

from attempt import canary, each

each({f"sent SIGKILL to group {pid}": lambda pid=pid: os.killpg(int(pid), signal.SIGKILL)
      for pid in canary("PIDS").split()})
