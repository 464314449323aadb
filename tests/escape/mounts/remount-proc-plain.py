# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: remounts /proc writable and without its options
# matters: /proc/self would become writable and the whole of /proc visible
# expect: EPERM
from attempt import MS_BIND, MS_REMOUNT, each, syscall

each({
    "writable": lambda: syscall("mount", None, "/proc", None, MS_REMOUNT | MS_BIND, None),
    "without options": lambda: syscall("mount", None, "/proc", None, MS_REMOUNT,
                                       "hidepid=off"),
})
