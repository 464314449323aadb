# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: interval timers at the finest resolution in many threads and processes
# matters: each tick is an interrupt on a processor that others use
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os
import signal

for _ in range(6):
    try:
        os.fork()
    except OSError:
        pass
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True:
    signal.pause()
