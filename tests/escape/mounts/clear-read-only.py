# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: mount_setattr without read-only, nosuid and nodev for /
# matters: the flags are the lock
# expect: EPERM
import struct

from attempt import AT_FDCWD, syscall, trying

with trying("cleared the flags of /"):
    syscall("mount_setattr", AT_FDCWD, "/", 0x8000, struct.pack("4Q", 0, 7, 0, 0), 32)
