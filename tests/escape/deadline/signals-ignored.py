# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: ignores every signal that can be ignored
# matters: the polite end is refused
# timeout: 1
# expect: DeadlineExceeded
import signal
import time

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
while True:
    time.sleep(3600)
