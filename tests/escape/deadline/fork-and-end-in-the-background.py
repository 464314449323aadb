# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: the same behind the back of a program that has ended
# matters: the race between the end of process 1 and a process that is being born
# expect: Completed
import os

if os.fork() == 0:
    os.setsid()
    while True:
        try:
            if os.fork() > 0:
                os._exit(0)
        except OSError:
            pass
