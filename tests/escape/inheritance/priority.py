# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for a priority, a scheduling class or an affinity that isn't the usual one
# matters: what the supervisor has for itself must not be passed on
# expect: own only
import os

from attempt import refused, through

with open("/proc/self/stat", encoding="ascii") as file:
    fields = file.read().rsplit(")", 1)[1].split()
nice, realtime, policy = int(fields[16]), int(fields[37]), int(fields[38])
if (nice, realtime, policy) != (0, 0, 0) or os.sched_getscheduler(0) != os.SCHED_OTHER:
    through(f"nice {nice} realtime {realtime} policy {policy}")
refused("own only")
