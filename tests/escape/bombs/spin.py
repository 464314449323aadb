# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: computes with as many processes as it is given
# matters: its share of the processors is for the run and not for each process
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

for _ in range(7):
    try:
        os.fork()
    except OSError:
        pass
while True:
    pass
