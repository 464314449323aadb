# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads the physical addresses of its pages
# matters: rowhammer and cache attacks on neighbours start with them
# expect: own only
import ctypes
import os
import struct

from attempt import name_of, refused, through

held = ctypes.create_string_buffer(b"x" * 65536)
page = ctypes.addressof(held) // 4096
try:
    fd = os.open("/proc/self/pagemap", os.O_RDONLY)
    entries = struct.unpack("16Q", os.pread(fd, 128, page * 8))
except OSError as error:
    refused(name_of(error))
if any(entry & ((1 << 55) - 1) for entry in entries):
    through("page frame numbers")
refused("own only")
