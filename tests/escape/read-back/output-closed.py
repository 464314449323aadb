# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: closes its output before it has ended, and goes on
# matters: a reader that takes the end of the pipe for the end of the run reports too early
# expect: Error
import os
import time

os.close(1)
os.close(2)
time.sleep(0.3)
os._exit(7)
