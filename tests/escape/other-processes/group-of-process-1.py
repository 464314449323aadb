# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: enters the process group or the session of process 1, and moves process 1 into its own
# matters: signals and terminals go by group
# expect: EPERM, ESRCH
import os

from attempt import REAPER, canary, each

each({
    "entered the group of process 1": lambda: os.setpgid(0, REAPER),
    "moved process 1": lambda: os.setpgid(REAPER, 0),
    "entered the group of a process of the host":
        lambda: os.setpgid(0, int(canary("PIDS").split()[0])),
})
