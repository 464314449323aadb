# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: keeps every dead child
# matters: a zombie is a pid and a task structure
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        pass
