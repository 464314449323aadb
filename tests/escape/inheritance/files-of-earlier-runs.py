# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for files that somebody left in /tmp, /dev/shm and its home
# matters: a sandbox is used once; what is there was somebody else's
# expect: own only
import os

from attempt import refused, through

for place in ("/tmp", "/dev/shm", "/home/sandbox"):
    for name in os.listdir(place):
        if (place, name) != ("/home/sandbox", "main.py"):
            through(os.path.join(place, name))
refused("own only")
