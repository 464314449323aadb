# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: writes the limit, the members and the agent of a cgroup where they usually are
# matters: the usual places are where exploits look
# expect: ENOENT
import os

from attempt import each

ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified",
         "/cgroup", "/mnt/cgroup", "/proc/self/root/sys/fs/cgroup")
NAMES = ("release_agent", "cgroup.procs", "tasks", "memory.max", "memory.limit_in_bytes",
         "cgroup.subtree_control", "devices.allow")
each({f"{root}/{name}": lambda root=root, name=name: os.open(f"{root}/{name}", os.O_WRONLY)
      for root in ROOTS for name in NAMES})
