# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: waits for a lock that its own stopped child holds
# matters: a wait that no time-out of the lock ends
# timeout: 2
# expect: DeadlineExceeded
import fcntl
import os
import signal
import time

from attempt import through

if os.fork() == 0:
    with open("/tmp/lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(0.3)
with open("/tmp/lock", "w", encoding="ascii") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
through("the lock")
