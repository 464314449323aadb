# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: gives the processor away as often as it can, from many processes
# matters: the scheduler works for nobody
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

for _ in range(5):
    os.fork()
while True:
    os.sched_yield()
