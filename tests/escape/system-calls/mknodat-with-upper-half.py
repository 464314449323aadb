# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: mknodat for a character device with bits above the mode's 16 set
# matters: the kernel takes the mode as 16 or 32 bits, the filter compares it under a mask
# expect: EPERM
from attempt import AT_FDCWD, syscall, trying

with trying("a device node"):
    syscall("mknodat", AT_FDCWD, "/tmp/mem", (1 << 32) | 0o020666, 0x101)
