# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: ends at once and leaves a stopped child
# matters: a stopped process gets no end from its parent's
# expect: Completed
import os
import signal
import time

if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(3600)
time.sleep(0.1)
