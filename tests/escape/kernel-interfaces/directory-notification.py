# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: watches a directory of the runtime by F_NOTIFY, and takes a lease on a file
# matters: two older ways to see and to hold up what others do with shared files
# expect: ENOSYS
import fcntl
import os

from attempt import each

directory = os.open("/usr/bin", os.O_RDONLY)
file = os.open("/usr/bin/python3", os.O_RDONLY)
each({
    "F_NOTIFY": lambda: fcntl.fcntl(directory, 1026, 0x1F),
    "F_SETLEASE": lambda: fcntl.fcntl(file, 1024, 0),
    "F_SETLEASE for a file of its own":
        lambda: fcntl.fcntl(os.open("/tmp/x", os.O_CREAT | os.O_RDWR), 1024, 1),
})
