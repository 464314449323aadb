# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: loads a kernel module from memory
# matters: a module is the kernel
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("init_module", bytes(64), 64, ""), "the call was answered")
