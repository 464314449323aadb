# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGTERM to everything, to the group of process 1 and to its own
# matters: process 1 may be a member of a group that can be named
# expect: no effect, ESRCH, EPERM
import os
import signal

from attempt import REAPER, signalled

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signalled(REAPER, (-1, -REAPER, 0), lambda _, group: os.kill(group, signal.SIGTERM))
