# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: reads and sets disk quotas
# matters: quotas of the host's disks, by device or by descriptor
# expect: EPERM
from attempt import each, syscall

each({
    "quotactl": lambda: syscall("quotactl", 0x80000700, "/dev/vda", 0, bytes(128)),
    "quotactl, sync": lambda: syscall("quotactl", 0x80000100, None, 0, None),
    "quotactl_fd": lambda: syscall("quotactl_fd", 1, 0x80000700, 0, bytes(128)),
})
