# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: a hundred thousand SIGCHLD to process 1
# matters: it waits for this one, and could lose the one that counts
# timeout: 20
# expect: no effect, EPERM, EAGAIN
import os
import signal

from attempt import REAPER, signalled

signalled(REAPER, [signal.SIGCHLD] * 100000, os.kill)
