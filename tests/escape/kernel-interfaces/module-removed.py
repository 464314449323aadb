# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: unloads a kernel module
# matters: what a neighbour or the node needs would be gone
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("delete_module", "loop", 0x800), "the call was answered")
