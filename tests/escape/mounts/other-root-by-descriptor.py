# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: looks for a descriptor of a directory outside, and walks up from each of its own
# matters: one leaked directory descriptor is the whole host
# expect: nothing found
import os
import stat

from attempt import refused, through

for fd in range(4096):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISDIR(mode):
        through(f"descriptor {fd} is a directory")
refused("nothing found")
