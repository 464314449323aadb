# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: writes /etc/ld.so.preload, /etc/ld.so.cache and a library beside the system's
# matters: every program that any sandbox starts later would load it
# expect: EROFS, EACCES
import os

from attempt import each

each({path: lambda path=path: os.open(path, os.O_WRONLY | os.O_CREAT)
      for path in ("/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/ld.so.conf",
                   "/lib/x86_64-linux-gnu/libx.so", "/usr/lib/libx.so")})
