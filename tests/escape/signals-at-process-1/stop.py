# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGSTOP, SIGTSTP, SIGTTIN and SIGTTOU to process 1
# matters: a stopped supervisor reports nothing and reaps nobody
# expect: no effect, EPERM
import os
import signal

from attempt import REAPER, signalled

signalled(REAPER, [signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU], os.kill)
