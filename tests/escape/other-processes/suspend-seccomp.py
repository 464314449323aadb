# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: PTRACE_O_SUSPEND_SECCOMP and PTRACE_SECCOMP_GET_FILTER
# matters: the options that were made to take the filter off and to read it
# expect: EPERM
from attempt import REAPER, each, syscall

each({
    "suspended the filter": lambda: syscall("ptrace", 0x4206, REAPER, 0, 1 << 21),
    "read the filter": lambda: syscall("ptrace", 0x420C, REAPER, 0, bytes(4096)),
})
