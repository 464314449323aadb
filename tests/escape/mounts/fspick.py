# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: picks the superblock of / for a new configuration
# matters: a remount under another name
# expect: EPERM
from attempt import AT_FDCWD, syscall, trying

with trying("the superblock of /"):
    syscall("fspick", AT_FDCWD, "/", 0)
