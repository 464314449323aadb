# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a detached copy of the tree of mounts
# matters: below a detached copy the mounts on top can be missing
# expect: EPERM
from attempt import AT_FDCWD, each, syscall

each({
    "a clone of /": lambda: syscall("open_tree", AT_FDCWD, "/", 1),
    "a handle of /": lambda: syscall("open_tree", AT_FDCWD, "/", 0),
})
