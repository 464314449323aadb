# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a mount namespace of its own, by unshare
# matters: it could rearrange what its children see, set-uid programs included
# expect: EPERM
from attempt import CLONE_NEWNS, syscall, trying

with trying("a mount namespace"):
    syscall("unshare", CLONE_NEWNS)
