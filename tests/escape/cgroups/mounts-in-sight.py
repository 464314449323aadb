# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: looks for a cgroup file system among its mounts
# matters: a namespace hides the path, not the mount
# expect: nothing found
from attempt import refused, through

with open("/proc/self/mountinfo", encoding="utf-8") as file:
    for line in file:
        if line.split(" - ")[1].startswith("cgroup"):
            through(line.strip())
refused("nothing found")
