# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: every signal from 1 to 64 to process 1, a hundred times
# matters: real-time signals queue, and one of them may be used by the C library
# expect: no effect, EPERM, EAGAIN
import os

from attempt import REAPER, signalled

signalled(REAPER, list(range(1, 65)) * 100, os.kill)
