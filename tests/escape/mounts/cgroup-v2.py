# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a cgroup v2 hierarchy
# matters: the limits of the run are files in it
# expect: EPERM
from attempt import syscall, trying

with trying("the unified hierarchy"):
    syscall("mount", "cgroup2", "/tmp", "cgroup2", 0, None)
