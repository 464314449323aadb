# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new user namespace, by clone
# matters: the same capabilities by another call
# expect: EPERM
import os

from attempt import CLONE_NEWUSER, syscall, trying

with trying("a child in a user namespace"):
    if syscall("clone", CLONE_NEWUSER | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
