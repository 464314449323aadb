# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: shrinks its output pipe to a page, makes it non-blocking and asynchronous, and writes
#   much
# matters: settings of the pipe are shared with the reader at the other end
# expect: Completed
import fcntl
import os

fcntl.fcntl(1, 1031, 4096)
fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)
left = 1 << 20
while left:
    try:
        left -= os.write(1, b"x" * min(left, 65536))
    except BlockingIOError:
        pass
