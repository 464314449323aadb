# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new IPC namespace, by clone
# matters: one bit among the others
# expect: EPERM
import os

from attempt import CLONE_NEWIPC, syscall, trying

with trying("a child in an IPC namespace"):
    if syscall("clone", CLONE_NEWIPC | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
