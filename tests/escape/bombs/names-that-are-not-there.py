# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: looks for millions of names in a directory of the runtime
# matters: the kernel remembers each name that isn't there, in the memory of the host's file
#   system
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

number = 0
while True:
    number += 1
    os.path.exists(f"/usr/lib/{number}")
