# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGKILL to process 1
# matters: it ends everything, and no report of the program's end would come
# expect: no effect, EPERM
import os
import signal

from attempt import REAPER, signalled

signalled(REAPER, [signal.SIGKILL], os.kill)
