# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: opens the interpreter and the C library for writing
# matters: the next run would execute what this one wrote
# expect: EROFS, EACCES
import os
import sys

from attempt import each

targets = {sys.executable, os.path.realpath(sys.executable)}
with open("/proc/self/maps", encoding="utf-8") as file:
    targets |= {line.split()[-1] for line in file if line.rstrip().endswith(".so.6")}
each({"opened " + path: lambda path=path, flag=flag: os.open(path, os.O_WRONLY | flag)
      for path in sorted(targets) for flag in (0, os.O_TRUNC, os.O_APPEND)})
