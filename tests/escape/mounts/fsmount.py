# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: makes a mount from a file system context
# matters: the last step of the new way
# expect: EPERM
from attempt import syscall, trying

with trying("fsmount was answered"):
    syscall("fsmount", 1, 0, 0)
