# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: queues real-time signals for children that block them
# matters: each queued signal is an object of the kernel
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        while True:
            signal.pause()
    children.append(child)
while True:
    for child in children:
        try:
            os.kill(child, 40)
        except OSError:
            pass
