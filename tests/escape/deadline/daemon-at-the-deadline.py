# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: leaves eight daemons that ignore every signal, and waits for the deadline itself
# matters: the deadline is kept for processes that nobody has listed
# timeout: 2
# expect: DeadlineExceeded
import os
import signal
import time

for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                try:
                    signal.signal(number, signal.SIG_IGN)
                except OSError:
                    pass
            os.closerange(0, 64)
            while True:
                time.sleep(1)
        os._exit(0)
    os.wait()
time.sleep(3600)
