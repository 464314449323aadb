# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: opens its output pipes for reading and for writing anew
# matters: the pipe is its own and holds its own output; there must be nothing of others in it
# expect: own only
import os

from attempt import SECRET, refused, through

os.write(2, b"mine")
for fd in (1, 2):
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_NONBLOCK)
    try:
        data = os.read(again, 65536)
    except BlockingIOError:
        continue
    if SECRET in data:
        through("a secret")
refused("own only")
