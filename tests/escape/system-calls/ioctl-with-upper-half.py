# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: ioctl TIOCSTI with bits above the 32nd set
# matters: the kernel takes the command as 32 bits; CVE-2019-10063 was this very mistake in
#   another sandbox
# expect: ENOSYS
from attempt import syscall, trying

with trying("TIOCSTI reached the kernel"):
    syscall("ioctl", 0, (1 << 32) | 0x5412, b"x")
