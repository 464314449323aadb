# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: forks children that end at once, as fast as it can
# matters: birth and death of a process take locks of the whole node
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
