# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: makes mapped pages of a file of the runtime go from memory, or into huge pages
# matters: they are everybody's: who needs them next would wait for the disk
# expect: EINVAL, ENOSYS
import ctypes
import mmap
import os

from attempt import each, syscall

MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE = 20, 21, 25
SIZE = 1 << 21
with open("/usr/bin/python3", "rb") as file:
    held = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE)
address = ctypes.addressof(ctypes.c_char.from_buffer(held))
address &= -os.sysconf("SC_PAGESIZE")
size = min(len(held), SIZE)
held[:size]
each({
    "MADV_COLD": lambda: syscall("madvise", address, size, MADV_COLD),
    "MADV_PAGEOUT": lambda: syscall("madvise", address, size, MADV_PAGEOUT),
    "MADV_PAGEOUT with bits above the 32nd": lambda: syscall("madvise", address, size,
                                                             (1 << 32) | MADV_PAGEOUT),
    "MADV_COLLAPSE": lambda: syscall("madvise", address, size, MADV_COLLAPSE),
})
