# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new network namespace, by clone
# matters: netfilter and traffic control in the hands of the program
# expect: EPERM
import os

from attempt import CLONE_NEWNET, syscall, trying

with trying("a child in a network namespace"):
    if syscall("clone", CLONE_NEWNET | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
