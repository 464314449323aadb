# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in another cgroup, by clone3 with CLONE_INTO_CGROUP
# matters: it would be charged to somebody else
# expect: ENOSYS
import os
import struct

from attempt import syscall, trying

here = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
arguments = struct.pack("11Q", 1 << 33, 0, 0, 0, 17, 0, 0, 0, 0, 0, here)
with trying("a child in another cgroup"):
    if syscall("clone3", arguments, len(arguments)) == 0:
        os._exit(0)
