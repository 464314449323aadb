# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: sleeps for ever with every signal blocked
# matters: whoever sends SIGTERM and waits, waits
# timeout: 1
# expect: DeadlineExceeded
import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
time.sleep(3600)
