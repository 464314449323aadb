# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: prints single bytes as fast as it can, from many processes
# matters: each wakes the reader for one byte
# timeout: 2
# expect: DeadlineExceeded, OutputLimitExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

for _ in range(4):
    os.fork()
while True:
    os.write(1, b"x")
