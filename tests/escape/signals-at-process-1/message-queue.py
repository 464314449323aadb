# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: a message queue that signals process 1
# matters: mq_notify sends a signal as another user would
# expect: ENOSYS, EPERM
import struct

from attempt import REAPER, each, syscall

event = struct.pack("qiii", 0, 9, 4, REAPER) + bytes(44)
each({
    "mq_open": lambda: syscall("mq_open", "q", 0o102, 0o600, None),
    "mq_notify": lambda: syscall("mq_notify", 0, event),
})
