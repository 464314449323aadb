# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: watches the interpreter's file by inotify
# matters: the runtime's files are shared: it would see when neighbours start
# expect: ENOSYS
from attempt import syscall, trying

with trying("a watch"):
    syscall("inotify_add_watch", syscall("inotify_init1", 0), "/usr/bin/python3", 0xFFF)
