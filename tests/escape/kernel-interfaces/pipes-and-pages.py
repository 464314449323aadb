# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: splice, tee and vmsplice
# matters: Dirty Pipe wrote into the page cache of read-only files by them
# expect: ENOSYS
import os

from attempt import each, syscall

read_end, write_end = os.pipe()
file = os.open("/usr/bin/python3", os.O_RDONLY)
each({
    "splice": lambda: syscall("splice", file, bytes(8), write_end, None, 1, 0),
    "tee": lambda: syscall("tee", read_end, write_end, 1, 0),
    "vmsplice": lambda: syscall("vmsplice", write_end, bytes(16), 1, 0),
})
