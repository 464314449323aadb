# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new UTS namespace, by clone
# matters: one bit among the others
# expect: EPERM
import os

from attempt import CLONE_NEWUTS, syscall, trying

with trying("a child in a UTS namespace"):
    if syscall("clone", CLONE_NEWUTS | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
