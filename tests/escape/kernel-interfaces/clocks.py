# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: sets the clocks of the node
# matters: certificates, leases and logs of everybody depend on them
# expect: EPERM
import struct

from attempt import each, syscall

now = struct.pack("ll", 1, 0)
each({
    "clock_settime": lambda: syscall("clock_settime", 0, now),
    "settimeofday": lambda: syscall("settimeofday", now, None),
    "settimeofday, time zone": lambda: syscall("settimeofday", None, bytes(8)),
    "adjtimex": lambda: syscall("adjtimex", struct.pack("I", 0x4000) + bytes(204)),
    "clock_adjtime": lambda: syscall("clock_adjtime", 0, struct.pack("I", 1) + bytes(204)),
})
