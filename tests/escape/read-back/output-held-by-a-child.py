# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: leaves a child that holds the output pipes open for a minute
# matters: a reader that waits for the end of the pipe waits for the child
# timeout: 5
# expect: Completed
import os
import time

if os.fork() == 0:
    time.sleep(60)
