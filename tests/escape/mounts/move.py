# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: moves /tmp over /usr
# matters: programs and libraries of its own under trusted paths
# expect: EPERM
from attempt import MS_MOVE, syscall, trying

with trying("/tmp over /usr"):
    syscall("mount", "/tmp", "/usr", None, MS_MOVE, None)
