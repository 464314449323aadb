# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: hard links to files of the runtime and of the host
# matters: a hard link survives the check that a symbolic one fails
# expect: EXDEV, ENOENT, EROFS, EPERM
import os

from attempt import AT_FDCWD, canary, each, syscall

each({
    "the interpreter": lambda: os.link(os.path.realpath("/usr/bin/python3"), "/tmp/python"),
    "the accounts": lambda: os.link("/etc/passwd", "/home/sandbox/passwd"),
    "by a descriptor": lambda: syscall("linkat", os.open("/etc/passwd", os.O_RDONLY), "",
                                       AT_FDCWD, "/tmp/passwd", 0x1000),
    "by its link in /proc": lambda: syscall(
        "linkat", AT_FDCWD, f"/proc/self/fd/{os.open('/etc/passwd', os.O_RDONLY)}", AT_FDCWD,
        "/tmp/passwd", 0x400),
    "a file of the host": lambda: os.link(canary("FILE"), "/tmp/canary"),
})
