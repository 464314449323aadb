# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: opens a namespace by a file handle
# matters: since Linux 6.18 namespaces have handles, which need no path
# expect: EPERM
import os
import struct

from attempt import each, syscall

handle = struct.pack("<Ii", 16, 0xF1) + bytes(16)
ns = os.open("/proc/self/ns/net", os.O_RDONLY)
each({
    "took a handle": lambda: syscall("name_to_handle_at", ns, "", handle, bytes(4), 0x1000),
    "opened a handle": lambda: syscall("open_by_handle_at", -10003, handle, os.O_RDONLY),
})
