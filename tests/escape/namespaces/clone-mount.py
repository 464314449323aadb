# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child in a new mount namespace, by clone
# matters: the flag is one bit in a word that programs may otherwise fill
# expect: EPERM
import os

from attempt import CLONE_NEWNS, syscall, trying

with trying("a child in a mount namespace"):
    if syscall("clone", CLONE_NEWNS | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
