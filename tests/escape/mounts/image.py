# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: mounts a disk image and a block device
# matters: the parsers of on-disk formats trust what they read
# expect: EPERM
from attempt import each, syscall

with open("/tmp/image", "wb") as file:
    file.truncate(1 << 20)
each({
    "an ext4 image": lambda: syscall("mount", "/tmp/image", "/tmp", "ext4", 0, None),
    "a disk": lambda: syscall("mount", "/dev/vda", "/tmp", "ext4", 0, None),
})
