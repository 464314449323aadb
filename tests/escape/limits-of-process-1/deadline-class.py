# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: sched_setattr: a deadline class for itself, idle and clamped for process 1
# matters: the newest of these calls
# expect: EPERM
import struct

from attempt import REAPER, each, syscall

deadline = struct.pack("IIQiIQQQII", 56, 6, 0, 0, 0, 1000000, 2000000, 2000000, 0, 0)
idle = struct.pack("IIQiIQQQII", 56, 5, 0x18, 0, 0, 0, 0, 0, 0, 0)
each({
    "SCHED_DEADLINE for itself": lambda: syscall("sched_setattr", 0, deadline, 0),
    "SCHED_IDLE for process 1": lambda: syscall("sched_setattr", REAPER, idle, 0),
})
