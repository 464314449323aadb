# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child that becomes a sibling, by CLONE_PARENT
# matters: it would be a child of process 1, which knows one main program and takes the rest for
#   orphans
# expect: ENOSYS
import os

from attempt import CLONE_PARENT, syscall, trying

with trying("a sibling"):
    if syscall("clone", CLONE_PARENT | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
