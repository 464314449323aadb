# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: makes a pseudo-terminal
# matters: terminals come from a pool of the whole node, and their driver is old
# expect: ENOENT
import os

from attempt import trying

with trying("a pseudo-terminal"):
    os.openpty()
