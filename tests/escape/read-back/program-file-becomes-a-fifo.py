# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: replaces its source file by a named pipe that nobody writes to, and fails with a
#   traceback
# matters: whoever opens it waits for ever
# timeout: 2
# expect: Error, DeadlineExceeded
import os

os.unlink("/home/sandbox/main.py")
os.mkfifo("/home/sandbox/main.py")
raise RuntimeError("look at my source")
