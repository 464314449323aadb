# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes kernel.modprobe, kernel.hotplug and kernel.poweroff_cmd
# matters: the kernel starts what is named there as root
# expect: ENOENT
import os

from attempt import each

def write(path):
    os.write(os.open(path, os.O_WRONLY), b"/tmp/handler")


each({"wrote " + name: lambda name=name: write("/proc/sys/kernel/" + name)
      for name in ("modprobe", "hotplug", "poweroff_cmd", "usermodehelper/bset")})
