# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: open_tree_attr, the call of Linux 6.15
# matters: calls that are newer than the policy must be refused without being named in it
# expect: ENOSYS
import struct

from attempt import AT_FDCWD, syscall, trying

with trying("a clone with other attributes"):
    syscall("open_tree_attr", AT_FDCWD, "/", 1, struct.pack("4Q", 0, 1, 0, 0), 32)
