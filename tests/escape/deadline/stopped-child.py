# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: leaves a stopped child and waits for it
# matters: the child must not be there after the end
# timeout: 1
# expect: DeadlineExceeded
import os
import signal

from attempt import through

child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(child, 0)
through("the stopped child has ended")
