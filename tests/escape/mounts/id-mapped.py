# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: an id-mapped mount of /tmp
# matters: files in it would belong to others on the host
# expect: EPERM
import os
import struct

from attempt import AT_FDCWD, syscall, trying

user = os.open("/proc/self/ns/user", os.O_RDONLY)
with trying("an id-mapped mount"):
    syscall("mount_setattr", AT_FDCWD, "/tmp", 0, struct.pack("4Q", 0x100000, 0, 0, user), 32)
