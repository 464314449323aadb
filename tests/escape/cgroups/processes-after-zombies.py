# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: keeps its dead children, and makes more than the limit
# matters: the dead have pids too
# expect: EAGAIN
import os

from attempt import name_of, refused, through

made = 0
try:
    for made in range(5000):
        if os.fork() == 0:
            os._exit(0)
except OSError as error:
    if made > 1024:
        through(f"{made} zombies")
    refused(name_of(error))
through(f"{made} zombies")
