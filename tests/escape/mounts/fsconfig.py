# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: configures a file system context, on whatever descriptor
# matters: the overflow of CVE-2022-0185 was in this call
# expect: EPERM
from attempt import syscall, trying

with trying("fsconfig was answered"):
    syscall("fsconfig", 1, 1, "source", b"A" * 4096, 0)
