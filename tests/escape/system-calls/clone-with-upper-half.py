# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: clone with CLONE_NEWUSER and bits above the 32nd set
# matters: a mask of 32 bits must see the flag all the same
# expect: EPERM
import os

from attempt import CLONE_NEWUSER, syscall, trying

with trying("a process in a user namespace"):
    if syscall("clone", (1 << 40) | CLONE_NEWUSER | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
