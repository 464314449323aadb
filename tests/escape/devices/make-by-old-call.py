# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: the mknod call without `at`, and mknod of sockets and plain files
# matters: two calls that do the same need two rules
# expect: ENOSYS
# needs: x86_64
from attempt import each, syscall

each({
    "mknod, disk": lambda: syscall(133, "/tmp/disk", 0o060666, 0x800),
    "mknod, memory": lambda: syscall(133, "/tmp/mem", 0o020666, 0x101),
})
