# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: spreads sixty children over sessions and groups of their own
# matters: a kill by group or session reaches one of them
# timeout: 2
# expect: DeadlineExceeded
import os
import time

for number in range(60):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        else:
            os.setpgid(0, 0)
        time.sleep(3600)
time.sleep(3600)
