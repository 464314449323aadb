# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: io_uring_enter and io_uring_register on whatever descriptor
# matters: a ring may have been inherited
# expect: EPERM
from attempt import each, syscall

each({
    "enter": lambda: syscall("io_uring_enter", 1, 1, 0, 0, 0, 0),
    "register": lambda: syscall("io_uring_register", 1, 0, None, 0),
    "register without a ring": lambda: syscall("io_uring_register", -1, 33, None, 0),
})
