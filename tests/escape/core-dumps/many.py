# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: crashes fifty children at once
# matters: handlers are started for each, beside every limit of the run
# expect: bounded
import os
import signal

from attempt import refused, through

children = []
for _ in range(50):
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
        os._exit(0)
    children.append(child)
for child in children:
    if os.WCOREDUMP(os.waitpid(child, 0)[1]):
        through("the kernel dumped core")
refused("bounded")
