# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: makes a cgroup of its own
# matters: a group beside the limits
# expect: ENOENT
import os

from attempt import each

each({path: lambda path=path: os.mkdir(path)
      for path in ("/sys/fs/cgroup/x", "/sys/fs/cgroup/memory/x", "/sys/fs/cgroup/unified/x")})
