# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: gives process 1 the idle class, and itself a real-time one
# matters: one would starve, the other starve everybody
# expect: EPERM
import struct

from attempt import REAPER, each, syscall

param = struct.pack("i", 0)
each({
    "SCHED_IDLE for process 1": lambda: syscall("sched_setscheduler", REAPER, 5, param),
    "SCHED_BATCH for process 1": lambda: syscall("sched_setscheduler", REAPER, 3, param),
    "SCHED_FIFO for itself": lambda: syscall("sched_setscheduler", 0, 1, struct.pack("i", 1)),
    "SCHED_RR for itself": lambda: syscall("sched_setscheduler", 0, 2, struct.pack("i", 1)),
    "sched_setparam for process 1": lambda: syscall("sched_setparam", REAPER, param),
})
