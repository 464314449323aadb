# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a tmpfs over /etc
# matters: it would decide who the users are and which libraries are loaded
# expect: EPERM
from attempt import syscall, trying

with trying("a tmpfs over /etc"):
    syscall("mount", "tmpfs", "/etc", "tmpfs", 0, None)
