# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: remounts / writable, by its superblock and by its mount
# matters: the runtime is shared by every run of the node
# expect: EPERM
from attempt import MS_BIND, MS_REMOUNT, each, syscall

each({
    "the superblock": lambda: syscall("mount", None, "/", None, MS_REMOUNT, None),
    "the mount": lambda: syscall("mount", None, "/", None, MS_REMOUNT | MS_BIND, None),
})
