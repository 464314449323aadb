# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: sets and bends the clocks by which the deadline might be kept
# matters: a deadline by the wall clock moves with it
# timeout: 3
# expect: EPERM
import struct

from attempt import each, syscall

each({
    "realtime": lambda: syscall("clock_settime", 0, struct.pack("ll", 0, 0)),
    "monotonic": lambda: syscall("clock_settime", 1, struct.pack("ll", 1 << 30, 0)),
    "boottime": lambda: syscall("clock_settime", 7, struct.pack("ll", 1 << 30, 0)),
    "the rate": lambda: syscall("adjtimex", struct.pack("I", 0x4000) + bytes(204)),
})
