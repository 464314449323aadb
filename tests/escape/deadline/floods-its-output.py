# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: writes to its output without an end, slower than the flood limit
# matters: a reader that is busy with the output must not forget the time
# timeout: 1
# expect: DeadlineExceeded
import os
import time

while True:
    os.write(1, b"x" * 65536)
    time.sleep(0.01)
