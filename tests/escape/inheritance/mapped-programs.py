# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for code of the jailer or the agent in its memory map
# matters: the parent's image would have been kept
# expect: nothing found
import os

from attempt import refused, through

# In a fork of an interpreter: the code that set its locks, whose file is in no place that it sees.
ZYGOTE = "/tmp/sandboxrun_zygote.so"

with open("/proc/self/maps", encoding="utf-8") as file:
    for line in file:
        path = line.split(maxsplit=5)[5].strip() if len(line.split(maxsplit=5)) > 5 else ""
        if path == ZYGOTE and not os.path.lexists(path):
            continue
        if "sandboxrun" in path.rpartition("/")[2] or "(deleted)" in path:
            through(path)
refused("nothing found")
