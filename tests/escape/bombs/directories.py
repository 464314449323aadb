# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: directories in directories, without an end
# matters: a deep tree makes whoever removes it recurse
# timeout: 2
# expect: bounded, OOMKilled, DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

from attempt import refused, through

os.chdir("/dev/shm")
for _ in range(100000):
    try:
        os.mkdir("d")
    except OSError:
        refused("bounded")
    os.chdir("d")
through("a hundred thousand directories")
