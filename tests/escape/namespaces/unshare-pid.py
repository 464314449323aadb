# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a pid namespace for its children, by unshare
# matters: a second process 1 would keep processes out of sight of the first
# expect: EPERM
from attempt import CLONE_NEWPID, syscall, trying

with trying("a pid namespace"):
    syscall("unshare", CLONE_NEWPID)
