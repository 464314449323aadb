# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: looks for any file of a cgroup hierarchy by name, in every directory
# matters: cgroup.procs moves processes, memory.max lifts the limit, release_agent runs programs
# expect: nothing found
import os

from attempt import refused, through

WANTED = ("cgroup.procs", "tasks", "release_agent", "notify_on_release", "memory.max",
          "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us", "pids.max", "cgroup.kill")
for top, directories, names in os.walk("/"):
    if top == "/":
        directories.remove("proc")
    for name in names:
        if name in WANTED or name.startswith("cgroup."):
            through(os.path.join(top, name))
refused("nothing found")
