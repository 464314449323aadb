# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP to process 1
# matters: signals that usually come from the kernel
# expect: no effect, EPERM
import os
import signal

from attempt import REAPER, signalled

signalled(REAPER, [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT,
                   signal.SIGTRAP], os.kill)
