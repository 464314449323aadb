# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: clone3 without any flag
# matters: glibc takes ENOSYS for the sign to use clone; another answer would break threads
# expect: ENOSYS
import os
import struct

from attempt import syscall, trying

arguments = struct.pack("8Q", 0, 0, 0, 0, 17, 0, 0, 0)
with trying("clone3 was answered"):
    if syscall("clone3", arguments, len(arguments)) == 0:
        os._exit(0)
