# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: watches the file system by fanotify
# matters: it sees and stops the file accesses of others, and hands out descriptors
# expect: EPERM
from attempt import AT_FDCWD, each, syscall

each({
    "fanotify_init": lambda: syscall("fanotify_init", 0, 0),
    "fanotify_init, reporting names": lambda: syscall("fanotify_init", 0xC00, 0),
    "fanotify_mark": lambda: syscall("fanotify_mark", 1, 1, 1, AT_FDCWD, "/"),
})
