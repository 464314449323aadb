# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: looks for another device behind the names that are there
# matters: the names say nothing, the numbers do
# expect: own only
import os
import stat

from attempt import refused, through

WANTED = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9)}
for top, directories, names in os.walk("/"):
    if top == "/":
        directories.remove("proc")
    for name in names:
        info = os.lstat(os.path.join(top, name))
        if stat.S_ISBLK(info.st_mode):
            through(f"{top}/{name} is a disk")
        if stat.S_ISCHR(info.st_mode):
            found = os.major(info.st_rdev), os.minor(info.st_rdev)
            if top != "/dev" or WANTED.get(name) != found:
                through(f"{top}/{name} is {found}")
refused("own only")
