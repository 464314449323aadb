# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: setpriority for process 1 with a which-argument of 0 and a pid with bits above the 32nd
#   set
# matters: process 1 has the same uid, so only the filter keeps its priority
# expect: EPERM
from attempt import REAPER, syscall, trying

with trying("the priority of process 1 was set"):
    syscall("setpriority", 0, (1 << 32) | REAPER, 19)
