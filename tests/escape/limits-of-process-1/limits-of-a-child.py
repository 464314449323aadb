# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: prlimit on its own child
# matters: another pid is another pid: the filter lets 0 through alone
# expect: EPERM
import os
import signal

from attempt import name_of, refused, syscall, through

child = os.fork()
if child == 0:
    signal.pause()
try:
    syscall("prlimit64", child, 7, None, bytes(16))
except OSError as error:
    os.kill(child, signal.SIGKILL)
    refused(name_of(error))
os.kill(child, signal.SIGKILL)
through("the limits of a child")
