# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: has a pipe send SIGKILL to process 1, by F_SETOWN and F_SETSIG
# matters: a signal that the kernel sends for a descriptor is not held back from process 1
# expect: EPERM
import fcntl
import os

from attempt import REAPER, trying

read_end, write_end = os.pipe()
with trying("F_SETSIG with SIGKILL"):
    fcntl.fcntl(read_end, fcntl.F_SETOWN, REAPER)
    fcntl.fcntl(read_end, 10, 9)
    fcntl.fcntl(read_end, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(write_end, b"x")
