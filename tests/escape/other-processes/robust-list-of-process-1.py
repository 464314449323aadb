# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: get_robust_list of process 1 and of a process of the host
# matters: it tells an address in another process
# expect: EPERM
import ctypes

from attempt import REAPER, canary, each, syscall

head, size = ctypes.c_long(), ctypes.c_long()
each({f"of {pid}": lambda pid=pid: syscall("get_robust_list", pid, ctypes.addressof(head),
                                           ctypes.addressof(size))
      for pid in (REAPER, int(canary("PIDS").split()[0]))})
