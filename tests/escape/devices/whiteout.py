# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: a character device 0,0 as the whiteout of a rename, and opens it
# matters: the one device that the kernel makes for the unprivileged
# expect: EACCES
import os

from attempt import AT_FDCWD, syscall, trying

RENAME_WHITEOUT = 4
with open("/tmp/a", "wb"):
    pass
with trying("opened a whiteout"):
    syscall("renameat2", AT_FDCWD, "/tmp/a", AT_FDCWD, "/tmp/b", RENAME_WHITEOUT)
    os.open("/tmp/a", os.O_RDWR)
