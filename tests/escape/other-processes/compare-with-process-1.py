# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: kcmp: whether it shares objects with process 1
# matters: the answers order kernel addresses
# expect: EPERM
from attempt import REAPER, each, syscall

pid = syscall("getpid")
each({f"compared {kind}": lambda kind=kind: syscall("kcmp", pid, REAPER, kind, 0, 0)
      for kind in range(8)})
