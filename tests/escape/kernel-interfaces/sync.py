# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: writes out every file system of the node
# matters: one call of a sandbox is a wait for all
# expect: EPERM
import os

from attempt import each, syscall

each({
    "sync": lambda: syscall("sync"),
    "syncfs": lambda: syscall("syncfs", os.open("/", os.O_RDONLY)),
})
