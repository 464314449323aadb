# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: orphans whose pids run through the whole range, so that one might be taken for the
#   program
# matters: the end of an orphan must not be taken for the end of the program
# timeout: 20
# expect: Error
import os

for _ in range(2000):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
raise SystemExit(5)
