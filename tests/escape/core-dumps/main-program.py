# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: ends the run by a crash
# matters: the run's own end must be reported as the signal that it was
# expect: Signaled
import os
import signal

os.chdir("/tmp")
os.kill(os.getpid(), signal.SIGSEGV)
