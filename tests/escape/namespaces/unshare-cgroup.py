# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a cgroup namespace of its own, by unshare
# matters: the first half of the release_agent escape
# expect: EPERM
from attempt import CLONE_NEWCGROUP, syscall, trying

with trying("a cgroup namespace"):
    syscall("unshare", CLONE_NEWCGROUP)
