# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: switches swap off
# matters: pages of every tenant would come back into memory at once
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("swapoff", "/swapfile"), "the call was answered")
