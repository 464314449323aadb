# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: opens /sys
# matters: with it come devices, drivers, cgroups, kernel memory layout
# expect: ENOENT
import os

from attempt import each

each({path: lambda path=path: os.listdir(path)
      for path in ("/sys", "/sys/kernel", "/sys/fs/cgroup", "/sys/class", "/sys/devices",
                   "/sys/module", "/sys/firmware", "/sys/power")})
