# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a user namespace of its own, by unshare
# matters: in it the program holds every capability, and with them a hundred times the kernel code
# expect: EPERM
import os

from attempt import CLONE_NEWUSER, refused, syscall, trying

before = os.readlink("/proc/self/ns/user")
with trying("a user namespace"):
    syscall("unshare", CLONE_NEWUSER)
    if os.readlink("/proc/self/ns/user") == before:
        refused("no effect")
