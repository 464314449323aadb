# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: looks for files of the neighbour in /dev/shm, and leaves one for it
# matters: ioi/isolate before 2.6: /dev/shm was one for all, a channel between programs
# source: S10
# expect: own only
import os

from attempt import refused, through

for place in ("/dev/shm", "/tmp"):
    if found := os.listdir(place):
        through(f"{place}: {found}")
    with open(os.path.join(place, "for-the-neighbour"), "w", encoding="ascii") as file:
        file.write("hello")
refused("own only")
