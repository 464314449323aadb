# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: opens a file by its handle, past every mount
# matters: with the handle of the root directory's inode 2 it is the whole disk of the host
# expect: EPERM
import struct

from attempt import AT_FDCWD, each, syscall

handle = struct.pack("<IiII", 8, 1, 2, 0)
each({
    "took a handle": lambda: syscall("name_to_handle_at", AT_FDCWD, "/usr", handle, bytes(4), 0),
    "opened a handle": lambda: syscall("open_by_handle_at", AT_FDCWD, handle, 0),
})
