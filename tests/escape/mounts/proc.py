# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a fresh proc without subset and hidepid
# matters: the whole of /proc/sys, /proc/keys and /proc/kcore would be back
# expect: EPERM
from attempt import syscall, trying

with trying("a fresh proc"):
    syscall("mount", "proc", "/tmp", "proc", 0, None)
