# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: traces its own child
# matters: a tracer changes system calls behind the filter on old kernels; nothing common needs it
# expect: EPERM
import os
import signal

from attempt import name_of, refused, syscall, through

child = os.fork()
if child == 0:
    signal.pause()
try:
    syscall("ptrace", 16, child, 0, 0)
except OSError as error:
    os.kill(child, signal.SIGKILL)
    refused(name_of(error))
os.kill(child, signal.SIGKILL)
through("traces a child")
