# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: sets up an io_uring
# matters: its operations pass no filter, and it has had more holes than any other call
# expect: EPERM
from attempt import syscall, trying

with trying("an io_uring"):
    syscall("io_uring_setup", 8, bytes(120))
