# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: memory in huge pages of the node's pool
# matters: the pool is the node's: it counts against no limit of the run, and a neighbour that
#   needs it would find it empty. tests/vm has the case with pages in the pool
# expect: ENOSYS
from attempt import syscall, trying

with trying("a mapping in huge pages"):
    syscall("mmap", 0, 2 << 20, 3, 0x22 | 0x40000, -1, 0)
