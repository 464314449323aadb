# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: makes more processes than its limit
# matters: pids are a table of the whole node
# expect: EAGAIN
import os
import signal

from attempt import name_of, refused, through

made = 0
try:
    for made in range(5000):
        if os.fork() == 0:
            signal.pause()
except OSError as error:
    if made > 1024:
        through(f"{made} processes")
    refused(name_of(error))
through(f"{made} processes")
