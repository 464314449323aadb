# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: pidfd_open for a process of the host
# matters: a pidfd is a handle that outlives every check
# expect: ESRCH
from attempt import canary, each, syscall

each({f"a pidfd of {pid}": lambda pid=pid: syscall("pidfd_open", int(pid), 0)
      for pid in canary("PIDS").split()})
