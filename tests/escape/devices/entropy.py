# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: ioctls of /dev/random: adds credited entropy, clears the pool, reseeds
# matters: random numbers of everybody on the node
# expect: ENOSYS
import os
import struct

from attempt import each, syscall

fd = os.open("/dev/urandom", os.O_RDONLY)
each({
    "RNDADDENTROPY": lambda: syscall("ioctl", fd, 0x40085203, struct.pack("ii", 8, 1) + b"x"),
    "RNDADDTOENTCNT": lambda: syscall("ioctl", fd, 0x40045201, struct.pack("i", 8)),
    "RNDZAPENTCNT": lambda: syscall("ioctl", fd, 0x5204, 0),
    "RNDCLEARPOOL": lambda: syscall("ioctl", fd, 0x5206, 0),
    "RNDRESEEDCRNG": lambda: syscall("ioctl", fd, 0x5207, 0),
})
