# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: the right to use one I/O port
# matters: ports talk to the hardware below the kernel
# expect: ForbiddenSyscall, SIGSYS
# needs: x86_64
from attempt import dies, syscall

dies(lambda: syscall("ioperm", 0x80, 1, 1), "the call was answered")
