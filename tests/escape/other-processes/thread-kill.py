# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: tkill and tgkill for process 1 and for processes of the host
# matters: other names of kill
# expect: EPERM, ESRCH
from attempt import REAPER, canary, each, syscall

tries = {"tkill for process 1": lambda: syscall("tkill", REAPER, 9)}
for pid in map(int, canary("PIDS").split()):
    tries[f"tkill for {pid}"] = lambda pid=pid: syscall("tkill", pid, 9)
    tries[f"tgkill for {pid}"] = lambda pid=pid: syscall("tgkill", pid, pid, 9)
each(tries)
