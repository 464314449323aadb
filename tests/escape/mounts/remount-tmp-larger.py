# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: remounts /tmp with another size, with set-uid programs and with devices
# matters: the cap on its size, and two flags that other locks lean on
# expect: EPERM
from attempt import MS_REMOUNT, syscall, trying

with trying("another /tmp"):
    syscall("mount", None, "/tmp", None, MS_REMOUNT, "size=64g,nr_inodes=0")
