# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child as process 1 of a new pid namespace, by clone
# matters: its children would be invisible to the program's own process 1
# expect: EPERM
import os

from attempt import CLONE_NEWPID, syscall, trying

with trying("a child in a pid namespace"):
    if syscall("clone", CLONE_NEWPID | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
