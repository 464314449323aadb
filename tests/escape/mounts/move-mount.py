# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: moves a mount by descriptor
# matters: the new way to attach anything anywhere
# expect: EPERM
import os

from attempt import AT_FDCWD, syscall, trying

with trying("moved a mount"):
    syscall("move_mount", os.open("/tmp", os.O_RDONLY), "", AT_FDCWD, "/usr", 4)
