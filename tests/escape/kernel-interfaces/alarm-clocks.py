# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: a timer that wakes the machine, and timers that send any signal
# matters: a sleeping node would wake; a timer can send SIGKILL to a thread of choice
# expect: ENOSYS
import struct

from attempt import REAPER, each, syscall

event = struct.pack("qiiiiii", 0, 9, 4, REAPER, 0, 0, 0) + bytes(32)
each({
    "timer_create to process 1": lambda: syscall("timer_create", 1, event, bytes(8)),
    "timer_create, alarm": lambda: syscall("timer_create", 8, event, bytes(8)),
    "timerfd_create, alarm": lambda: syscall("timerfd_create", 9, 0),
})
