# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: writes a file capability on a program of its own
# matters: executed, it would hold the capability
# expect: ENOTSUP
import shutil
import struct

from attempt import syscall, trying

shutil.copy("/usr/bin/id", "/tmp/id")
# VFS_CAP_REVISION_3: everything permitted, for the root of this user namespace.
value = struct.pack("<6I", 0x03000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 65532)
with trying("a file capability"):
    syscall("setxattr", "/tmp/id", "security.capability", value, len(value), 0)
