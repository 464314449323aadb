# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: an IPC namespace of its own, by unshare
# matters: System V and POSIX queues with fresh limits
# expect: EPERM
from attempt import CLONE_NEWIPC, syscall, trying

with trying("an IPC namespace"):
    syscall("unshare", CLONE_NEWIPC)
