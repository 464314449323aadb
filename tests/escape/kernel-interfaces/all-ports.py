# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: the right to use every I/O port
# matters: ports talk to the hardware below the kernel
# expect: ForbiddenSyscall, SIGSYS
# needs: x86_64
from attempt import dies, syscall

dies(lambda: syscall("iopl", 3), "the call was answered")
