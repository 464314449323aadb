# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: hard and symbolic links until none is given
# matters: names are memory too
# timeout: 3
# expect: bounded, OOMKilled, DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

from attempt import refused, through

with open("/tmp/a", "wb"):
    pass
made = 0
try:
    while made < 100000:
        os.link("/tmp/a", f"/tmp/h{made}")
        os.symlink("/" + "x" * 3000, f"/dev/shm/s{made}")
        made += 1
except OSError:
    refused("bounded")
through(f"{made} links")
