# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: reboots the node, by a command that does nothing but switch ctrl-alt-del
# matters: the end of every tenant's work
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

dies(lambda: syscall("reboot", 0xFEE1DEAD, 672274793, 0, 0), "the call was answered")
