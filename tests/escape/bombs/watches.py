# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: inotify watches until none is given
# matters: a watch pins the inode of a file, of the host's file system as well
# timeout: 2
# expect: ENOSYS, EPERM
# memory: 128Mi
# cpu: 400m
# host: neighbour
from attempt import syscall, trying

with trying("a watch"):
    fd = syscall("inotify_init1", 0)
    for at in range(100000):
        syscall("inotify_add_watch", fd, "/usr", 0xFFF)
