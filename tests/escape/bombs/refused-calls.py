# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: refused system calls as fast as it can, from many processes
# matters: whoever reports refusals must not drown in them
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

from attempt import CLONE_NEWUSER, syscall

for _ in range(3):
    os.fork()
while True:
    try:
        syscall("unshare", CLONE_NEWUSER)
    except OSError:
        pass
