# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a UTS namespace of its own, by unshare
# matters: the name is harmless, the right to make namespaces is not
# expect: EPERM
from attempt import CLONE_NEWUTS, syscall, trying

with trying("a UTS namespace"):
    syscall("unshare", CLONE_NEWUTS)
