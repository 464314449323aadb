# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: reads its input after its end, from its pipes and from a terminal that isn't there
# matters: a supervisor that feeds the input could wait with it
# timeout: 1
# expect: DeadlineExceeded
import os

again = os.open("/proc/self/fd/1", os.O_RDONLY)
while True:
    if not os.read(again, 65536):
        raise SystemExit("the end of a pipe that it holds itself")
