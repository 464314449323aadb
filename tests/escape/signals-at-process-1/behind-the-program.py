# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: ends while a child goes on signalling process 1
# matters: the last moments of a supervisor are the least tried
# expect: Error
import os

from attempt import REAPER

for _ in range(4):
    if os.fork() == 0:
        while True:
            for number in range(1, 31):
                try:
                    os.kill(REAPER, number)
                except PermissionError:
                    pass
raise SystemExit(6)
