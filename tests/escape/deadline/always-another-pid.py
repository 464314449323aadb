# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: a process that forks and ends, again and again, so that no pid lives for long
# matters: whoever lists pids and kills them comes too late for each
# timeout: 1
# expect: DeadlineExceeded
import os

while True:
    try:
        if os.fork() > 0:
            if os.getpid() == 2:
                os.wait()
                continue
            os._exit(0)
        os.setsid()
    except OSError:
        pass
