# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a FUSE file system
# matters: a file system that the program itself answers for can hold other processes for ever
# expect: EPERM
from attempt import syscall, trying

with trying("a FUSE mount"):
    syscall("mount", "fuse", "/tmp", "fuse", 0, "fd=0,rootmode=40000,user_id=0,group_id=0")
