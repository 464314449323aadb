# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: asks which pages of the interpreter's file are in memory
# matters: the runtime's files are shared: it would see what neighbours execute
# expect: ENOSYS
import ctypes
import mmap
import os
import struct

from attempt import each, syscall

file = os.open("/usr/bin/python3", os.O_RDONLY)
held = mmap.mmap(file, 4096, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
buffer = ctypes.create_string_buffer(64)
vector = struct.pack("QQ", ctypes.addressof(buffer), 64)
with open("/proc/self/maps", encoding="utf-8") as maps:
    page = next(int(line.split("-")[0], 16) for line in maps if " r--s " in line)
each({
    "mincore": lambda: syscall("mincore", page, 4096, buffer),
    "cachestat": lambda: syscall("cachestat", file, bytes(16), bytes(40), 0),
    "preadv2 without waiting": lambda: syscall("preadv2", file, vector, 1, 0, 0, 8),
})
