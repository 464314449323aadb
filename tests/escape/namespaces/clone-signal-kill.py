# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: a child that sends its parent SIGKILL when it ends, re-parented to process 1
# matters: a signal that the kernel sends is not held back from process 1 as those of programs are
# expect: ENOSYS
import os

from attempt import syscall, trying

with trying("a child with SIGKILL as its end"):
    if syscall("clone", 9, 0, 0, 0, 0) == 0:
        os._exit(0)
