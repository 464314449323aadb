# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a bind mount of / on /tmp
# matters: a second view of the root, which could then be made writable
# expect: EPERM
from attempt import MS_BIND, MS_REC, syscall, trying

with trying("a bind mount"):
    syscall("mount", "/", "/tmp", None, MS_BIND | MS_REC, None)
