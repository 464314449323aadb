# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: forks without an end, each child as well
# matters: the table of processes is the node's
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
