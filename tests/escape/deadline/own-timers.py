# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: sets timers and limits of its own that end it before the deadline or never
# matters: the reason must be what ended it, and the platform's timer be another one
# timeout: 1
# expect: DeadlineExceeded
import resource
import signal

signal.signal(signal.SIGALRM, lambda *_: None)
signal.signal(signal.SIGXCPU, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
resource.setrlimit(resource.RLIMIT_CPU, (1, resource.RLIM_INFINITY))
while True:
    pass
