# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: unshare of the descriptor table and the file system context alone, without a namespace
# matters: harmless by itself; the call as a whole is off, so that no combination of flags slips
#   through
# expect: EPERM
from attempt import syscall, trying

with trying("unshare was answered"):
    syscall("unshare", 0x400 | 0x200)
