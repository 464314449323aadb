# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: all namespaces in one call, as `unshare -Urmpfniu` does
# matters: the first line of most published exploits
# expect: EPERM
from attempt import (
    CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER,
    CLONE_NEWUTS, syscall, trying,
)

ALL = (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
       | CLONE_NEWCGROUP)
with trying("all namespaces"):
    syscall("unshare", ALL)
