# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for the channel by which its code came
# matters: the next bytes in it could be somebody else's
# expect: EBADF
import os

from attempt import each

each({
    "read": lambda: os.read(3, 1),
    "write": lambda: os.write(3, b"x"),
    "reopened": lambda: os.fstat(3),
})
