# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: getpid with bit 30 set, the entry of x32 programs
# matters: the kernel drops the bit behind the filter, so a list of plain numbers misses it
# expect: SIGSYS
# needs: x86_64
from attempt import dies, syscall

dies(lambda: syscall(0x40000000 | 39), "an x32 system call was answered")
