# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: empty files until none is given, in each of its places
# matters: an empty file has no size and is memory of the kernel
# timeout: 4
# memory: 256Mi
# expect: bounded, OOMKilled
# cpu: 400m
# host: neighbour
import os

from attempt import refused, through

made = 0
for place in ("/tmp", "/dev/shm", "/home/sandbox"):
    try:
        while made < 200000:
            os.close(os.open(f"{place}/{made}", os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError as error:
        if error.errno != 28:
            raise
if made > 100000:
    through(f"{made} files")
refused("bounded")
