# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for code of the jailer or the agent in its memory map
# matters: the parent's image would have been kept
# expect: nothing found
from attempt import refused, through

with open("/proc/self/maps", encoding="utf-8") as file:
    for line in file:
        path = line.split(maxsplit=5)[5].strip() if len(line.split(maxsplit=5)) > 5 else ""
        if "sandboxrun" in path.rpartition("/")[2] or "(deleted)" in path:
            through(path)
refused("nothing found")
