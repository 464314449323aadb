# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: renames, unlinks and exchanges files of the runtime
# matters: the same as writing them
# expect: EROFS, EACCES, EXDEV
import os

from attempt import AT_FDCWD, each, syscall

with open("/tmp/mine", "wb"):
    pass
each({
    "renamed /etc/passwd": lambda: os.rename("/etc/passwd", "/etc/old"),
    "unlinked /etc/passwd": lambda: os.unlink("/etc/passwd"),
    "removed /usr/lib": lambda: os.rmdir("/usr/lib"),
    "replaced /etc/hosts": lambda: os.rename("/tmp/mine", "/etc/hosts"),
    "renamed /tmp": lambda: os.rename("/tmp", "/home/sandbox/tmp"),
    "exchanged": lambda: syscall("renameat2", AT_FDCWD, "/etc/hosts", AT_FDCWD, "/etc/passwd", 2),
})
