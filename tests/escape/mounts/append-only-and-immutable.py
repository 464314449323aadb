# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: takes an inode flag from a file of the runtime and puts one on it
# matters: ioctls on files of the host's disk
# expect: ENOSYS
import os
import struct

from attempt import each, syscall

fd = os.open("/etc/passwd", os.O_RDONLY)
each({
    "read the flags": lambda: syscall("ioctl", fd, 0x80086601, bytes(8)),
    "set the flags": lambda: syscall("ioctl", fd, 0x40086602, struct.pack("l", 0x10)),
    "set the project": lambda: syscall("ioctl", fd, 0x401C5820, bytes(28)),
})
