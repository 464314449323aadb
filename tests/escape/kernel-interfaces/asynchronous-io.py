# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: the older asynchronous I/O
# matters: a ring in memory and requests that outlive their maker
# expect: ENOSYS
from attempt import syscall, trying

with trying("an I/O context"):
    syscall("io_setup", 8, bytes(8))
