# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: two processes that continue each other whenever one is stopped
# matters: whoever freezes before killing races with them
# timeout: 1
# expect: DeadlineExceeded
import os
import signal
import time

first = os.getpid()
second = os.fork()
other = first if second == 0 else second
while True:
    os.kill(other, signal.SIGCONT)
    os.kill(other, signal.SIGSTOP)
    os.kill(other, signal.SIGCONT)
    time.sleep(0)
