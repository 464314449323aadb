# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new cgroup namespace, by clone
# matters: one bit among the others
# expect: EPERM
import os

from attempt import CLONE_NEWCGROUP, syscall, trying

with trying("a child in a cgroup namespace"):
    if syscall("clone", CLONE_NEWCGROUP | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
