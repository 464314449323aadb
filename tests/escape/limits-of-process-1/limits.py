# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: prlimit on process 1: descriptors, processor time, file size, processes
# matters: a processor time of one second would end it by SIGXCPU, from the kernel
# expect: EPERM
import struct

from attempt import REAPER, each, syscall

each({f"limit {limit}": lambda limit=limit: syscall("prlimit64", REAPER, limit,
                                                    struct.pack("QQ", 0, 0), None)
      for limit in range(16)})
