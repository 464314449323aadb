# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: takes the memory in files of /tmp, /dev/shm and its home together
# matters: files in memory must count as memory
# memory: 64Mi
# expect: OOMKilled, ENOSPC
import os

from attempt import refused, through

written = 0
for place in ("/tmp", "/dev/shm", "/home/sandbox"):
    try:
        with open(os.path.join(place, "fill"), "wb") as file:
            while written < 128 << 20:
                written += file.write(bytes(1 << 20))
    except OSError as error:
        if error.errno != 28:
            raise
held = bytearray(b"x" * max(0, (80 << 20) - written))
if written + len(held) > 64 << 20:
    through(f"{written} bytes in files, {len(held)} in memory")
refused("ENOSPC")
