# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: PTRACE_ATTACH and PTRACE_SEIZE on process 1
# matters: whoever traces process 1 is process 1
# expect: EPERM
from attempt import REAPER, each, syscall

each({
    "PTRACE_ATTACH": lambda: syscall("ptrace", 16, REAPER, 0, 0),
    "PTRACE_SEIZE": lambda: syscall("ptrace", 0x4206, REAPER, 0, 0),
})
