# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new user namespace, by clone3
# matters: the flags are in memory, where a filter can't look; the whole call must be off
# expect: ENOSYS
import os
import struct

from attempt import CLONE_NEWUSER, syscall, trying

arguments = struct.pack("8Q", CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0)
with trying("a child in a user namespace"):
    if syscall("clone3", arguments, len(arguments)) == 0:
        os._exit(0)
