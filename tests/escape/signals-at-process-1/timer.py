# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: a timer whose signal goes to a thread of process 1
# matters: SIGEV_THREAD_ID takes any thread of the caller's group, by a check that has been wrong
#   before
# expect: ENOSYS, EPERM
import struct

from attempt import REAPER, syscall, trying

event = struct.pack("qiii", 0, 9, 4, REAPER) + bytes(44)
with trying("a timer for process 1"):
    syscall("timer_create", 0, event, bytes(8))
