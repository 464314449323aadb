# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: stops itself by SIGSTOP
# matters: a stopped process handles no signal but SIGKILL, and waiters may take it for ended
# timeout: 1
# expect: DeadlineExceeded
import os
import signal

from attempt import through

os.kill(os.getpid(), signal.SIGSTOP)
through("somebody continued it")
