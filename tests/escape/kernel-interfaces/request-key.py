# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: requests a key
# matters: for a missing one the kernel starts /sbin/request-key as root
# expect: EPERM
from attempt import syscall, trying

with trying("a key was requested"):
    syscall("request_key", "user", "x", "y", -3)
