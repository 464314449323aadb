# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGTERM, SIGINT, SIGHUP and SIGQUIT to process 1
# matters: the polite signals, whose handlers clean up too early
# expect: no effect, EPERM
import os
import signal

from attempt import REAPER, signalled

signalled(REAPER, [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT], os.kill)
