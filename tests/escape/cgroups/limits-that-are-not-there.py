# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: looks for limits that it could see from inside and that aren't there
# matters: a limit that was promised and not set shows as the node's own size
# expect: bounded
import os
import resource

from attempt import refused, through

unlimited = [name for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_MEMLOCK",
                               "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_CORE",
                               "RLIMIT_STACK")
             if resource.getrlimit(getattr(resource, name))[1] == resource.RLIM_INFINITY]
for path in ("/tmp", "/dev/shm", "/home/sandbox"):
    size = os.statvfs(path)
    if size.f_blocks * size.f_frsize > 512 << 20 or not 0 < size.f_files < 1 << 20:
        unlimited.append(path)
if unlimited:
    through(f"no limit on {unlimited}")
refused("bounded")
