# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: leaves a daemon: a new session, no descriptors, no parent
# matters: the classic way to outlive whoever waits for a process or its group
# expect: Completed
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(3600)
    os._exit(0)
os.wait()
