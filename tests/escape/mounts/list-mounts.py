# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: statmount and listmount, which list mounts without /proc
# matters: they take the number of a mount, and could be asked for others' mounts
# expect: ENOSYS
import struct

from attempt import each, syscall

request = struct.pack("<IIQQ", 24, 0, 0xFFFFFFFFFFFFFFFF, 0)
each({
    "listmount": lambda: syscall("listmount", request, bytes(512), 64, 0),
    "statmount": lambda: syscall("statmount", request, bytes(512), 512, 0),
})
