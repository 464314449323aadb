# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: executes a program that is only in memory, by memfd and execveat
# matters: nothing on any file system would show it
# expect: ENOSYS
import os

from attempt import AT_EMPTY_PATH, AT_FDCWD, each, syscall

def run():
    fd = syscall("memfd_create", "x", 0)
    with open("/usr/bin/id", "rb") as file:
        os.write(fd, file.read())
    syscall("execveat", fd, "", None, None, AT_EMPTY_PATH)


each({
    "memfd": run,
    "execveat on a file": lambda: syscall(
        "execveat", os.open("/usr/bin/id", os.O_PATH), "", None, None, AT_EMPTY_PATH),
    "execveat on a path": lambda: syscall("execveat", AT_FDCWD, "/usr/bin/id", None, None, 0),
})
