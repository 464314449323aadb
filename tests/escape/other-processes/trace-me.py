# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: asks to be traced by its parent, process 1
# matters: process 1 would get stops that it doesn't know of
# expect: EPERM
from attempt import syscall, trying

with trying("PTRACE_TRACEME"):
    syscall("ptrace", 0, 0, 0, 0)
