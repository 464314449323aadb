# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: opens files by the links in map_files
# matters: they open what is mapped, whatever its path says now
# expect: EPERM
import os

from attempt import each, refused

names = os.listdir("/proc/self/map_files")
if not names:
    refused("ENOENT")
each({name: lambda name=name: os.open("/proc/self/map_files/" + name, os.O_RDWR)
      for name in names[:16]})
