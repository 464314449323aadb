# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: a sysfs
# matters: devices, power states, kernel memory layout
# expect: EPERM
from attempt import syscall, trying

with trying("a sysfs"):
    syscall("mount", "sysfs", "/tmp", "sysfs", 0, None)
