# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: loads another kernel from a file
# matters: the same by a newer call
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("kexec_file_load", -1, -1, 0, None, 0), "the call was answered")
