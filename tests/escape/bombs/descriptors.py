# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: opens descriptors until none is given, in every process that it is given
# matters: the table of open files is the node's
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os
import resource
import time

from attempt import through

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
if hard > 65536:
    through(f"{hard} descriptors")
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
try:
    for _ in range(30):
        if os.fork() == 0:
            break
except OSError:
    pass
held = []
while True:
    try:
        held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        time.sleep(0.01)
