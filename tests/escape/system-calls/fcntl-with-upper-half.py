# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: fcntl F_SETSIG with bits above the 32nd set
# matters: a descriptor could then send any signal, SIGSYS and SIGKILL to process 1 among them
# expect: ENOSYS
from attempt import syscall, trying

with trying("F_SETSIG reached the kernel"):
    syscall("fcntl", 1, (1 << 32) | 10, 9)
