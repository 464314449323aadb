# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: loads a kernel module by a descriptor
# matters: a module is the kernel
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("finit_module", 0, "", 0), "the call was answered")
