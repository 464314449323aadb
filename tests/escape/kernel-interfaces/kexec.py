# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: loads another kernel, segment by segment
# matters: the node would boot it
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("kexec_load", 0, 0, None, 0), "the call was answered")
