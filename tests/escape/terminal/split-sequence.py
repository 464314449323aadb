# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: a control sequence in single bytes with pauses between
# matters: a filter that looks at one write at a time sees none of it
# expect: Completed
# host: terminal
import os
import time

for part in b"\x1b[2J\xc2\x9b2J\x1b]0;forged\x07":
    os.write(1, bytes([part]))
    time.sleep(0.01)
