# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: sets RLIMIT_CORE of itself, and reads limits of process 1, with bits above the 32nd set
# matters: the kernel takes resource and pid as 32 bits; the core limit of 1 keeps the host's core
#   handler from starting
# expect: EPERM, ENOSYS
import struct

from attempt import REAPER, each, syscall

limit = struct.pack("QQ", 0, 0)
each({
    "RLIMIT_CORE was set": lambda: syscall("prlimit64", 0, (1 << 32) | 4, limit, 0),
    "the limits of process 1 were set":
        lambda: syscall("prlimit64", (1 << 32) | REAPER, 7, limit, 0),
})
