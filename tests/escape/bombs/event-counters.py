# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: eventfd objects until none is given, in many processes
# matters: small objects of the kernel, one for each descriptor
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os
import time

for _ in range(5):
    try:
        os.fork()
    except OSError:
        pass
held = []
while True:
    try:
        held.append(os.eventfd(0))
    except OSError:
        time.sleep(0.01)
