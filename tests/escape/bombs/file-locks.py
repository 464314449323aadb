# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: a lock for each byte of a file
# matters: each lock is an object in a list that is walked
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import fcntl
import os

fd = os.open("/tmp/locked", os.O_CREAT | os.O_RDWR)
at = 0
while True:
    at += 2
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
    except OSError:
        pass
