# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: process_madvise and process_mrelease on process 1
# matters: one drops another's memory to swap, the other frees it
# expect: EPERM
import struct

from attempt import REAPER, each, syscall

pidfd = syscall("pidfd_open", REAPER, 0)
each({
    "process_madvise": lambda: syscall("process_madvise", pidfd,
                                       struct.pack("QQ", 0x400000, 4096), 1, 21, 0),
    "process_mrelease": lambda: syscall("process_mrelease", pidfd, 0),
})
