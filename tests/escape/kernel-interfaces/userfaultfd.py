# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: handles its own page faults, by the call and by its device
# matters: it stops the kernel in the middle of a copy for as long as a race needs
# expect: EPERM, ENOENT
import os

from attempt import each, syscall

each({
    "userfaultfd": lambda: syscall("userfaultfd", 0),
    "userfaultfd, user faults only": lambda: syscall("userfaultfd", 1),
    "the device": lambda: os.open("/dev/userfaultfd", os.O_RDWR),
})
