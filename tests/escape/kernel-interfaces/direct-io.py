# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: reads a file of the runtime from the disk past the page cache (O_DIRECT)
# matters: each read is one of the node's disk, as fast as that can, and no limit counts them
# expect: EINVAL, ENOSYS
import fcntl
import os

from attempt import AT_FDCWD, each, syscall

PATH = "/usr/bin/python3"
file = os.open(PATH, os.O_RDONLY)
how = os.O_DIRECT.to_bytes(8, "little") + bytes(16)
each({
    "openat": lambda: os.open(PATH, os.O_RDONLY | os.O_DIRECT),
    "openat with bits above the 32nd": lambda: syscall("openat", AT_FDCWD, PATH,
                                                       (1 << 32) | os.O_DIRECT, 0),
    "open": lambda: syscall("open", PATH, os.O_DIRECT, 0),
    "fcntl(F_SETFL)": lambda: fcntl.fcntl(file, fcntl.F_SETFL, os.O_DIRECT),
    "openat2": lambda: syscall("openat2", AT_FDCWD, PATH, how, 24),
})
