# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: socket with AF_NETLINK in the lower half and bits above it set
# matters: the kernel takes the family as 32 bits
# expect: EAFNOSUPPORT
from attempt import syscall, trying

with trying("a netlink socket"):
    syscall("socket", (1 << 32) | 16, 3, 0)
