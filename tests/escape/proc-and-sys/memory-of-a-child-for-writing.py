# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes the memory of its own child by /proc/PID/mem
# matters: ptrace is off, and this is the same by another name
# expect: EROFS, EACCES
import os
import signal

from attempt import name_of, refused, through

child = os.fork()
if child == 0:
    signal.pause()
try:
    os.open(f"/proc/{child}/mem", os.O_WRONLY)
except OSError as error:
    os.kill(child, signal.SIGKILL)
    refused(name_of(error))
os.kill(child, signal.SIGKILL)
through("opened the memory of the child")
