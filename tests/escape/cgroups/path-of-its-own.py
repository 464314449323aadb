# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: reads where its cgroup lies on the host
# matters: the path names the node's layout and the ids of runs
# expect: own only
from attempt import refused, through

with open("/proc/self/cgroup", encoding="ascii") as file:
    for line in file:
        if line.rstrip("\n").split(":", 2)[2] != "/":
            through(line.strip())
refused("own only")
