# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: counts whether children in sessions of their own have a limit of their own
# matters: leaving the session must not leave the group
# expect: EAGAIN
import os
import signal

from attempt import name_of, refused, through

made = 0
try:
    for made in range(5000):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.pause()
            signal.pause()
except OSError as error:
    if made > 1024:
        through(f"{made} sessions")
    refused(name_of(error))
through(f"{made} sessions")
