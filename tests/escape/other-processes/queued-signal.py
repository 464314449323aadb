# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: rt_sigqueueinfo and rt_tgsigqueueinfo with a made-up sender
# matters: the receiver would believe that the kernel or root sent it
# expect: EPERM
import struct

from attempt import REAPER, each, syscall

# si_signo, si_errno, si_code (SI_KERNEL), padding, si_pid, si_uid
info = struct.pack("iiiiii", 10, 0, 0x80, 0, 0, 0) + bytes(104)
pid = syscall("getpid")
each({
    "to process 1": lambda: syscall("rt_sigqueueinfo", REAPER, 10, info),
    "to itself": lambda: syscall("rt_sigqueueinfo", pid, 10, info),
    "to a thread of its own": lambda: syscall("rt_tgsigqueueinfo", pid, pid, 10, info),
})
