# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: process_madvise with MADV_PAGEOUT and MADV_COLD on process 1
# matters: it would have to be read back from the disk when it is needed
# expect: EPERM
import struct

from attempt import REAPER, each, syscall

pidfd = syscall("pidfd_open", REAPER, 0)
each({f"advice {advice}": lambda advice=advice: syscall(
    "process_madvise", pidfd, struct.pack("QQ", 0x400000, 4096), 1, advice, 0)
    for advice in (3, 20, 21, 25)})
