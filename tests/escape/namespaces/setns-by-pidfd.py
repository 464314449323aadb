# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: setns into the namespaces of process 1 by a pidfd
# matters: process 1 lives in the same ones, but a pidfd opens all of them in one call
# expect: EPERM
from attempt import CLONE_NEWNET, CLONE_NEWNS, REAPER, syscall, trying

with trying("joined the namespaces of process 1"):
    syscall("setns", syscall("pidfd_open", REAPER, 0), CLONE_NEWNS | CLONE_NEWNET)
