# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: drops from the bounding set, and reads it
# matters: it is empty, and must be
# expect: nothing found
import errno

from attempt import name_of, prctl, refused, through

for cap in range(64):
    try:
        if prctl(23, cap) == 1:
            through(f"capability {cap} is in the bounding set")
    except OSError as error:
        if error.errno != errno.EINVAL:
            refused(name_of(error))
        break
refused("nothing found")
