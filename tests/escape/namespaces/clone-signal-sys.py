# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child that sends its parent SIGSYS when it ends
# matters: a death by SIGSYS must mean a forbidden call and nothing else
# expect: ENOSYS
import os

from attempt import syscall, trying

with trying("a child with SIGSYS as its end"):
    if syscall("clone", 31, 0, 0, 0, 0) == 0:
        os._exit(0)
