# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: waits for process 1 and for processes of the host
# matters: whoever can wait learns how somebody else's process ended
# expect: ECHILD
import os

from attempt import REAPER, canary, each

tries = {"process 1": lambda: os.waitpid(REAPER, os.WNOHANG),
         "any": lambda: os.waitpid(-1, os.WNOHANG)}
for pid in map(int, canary("PIDS").split()):
    tries[f"{pid}"] = lambda pid=pid: os.waitpid(pid, os.WNOHANG)
each(tries)
