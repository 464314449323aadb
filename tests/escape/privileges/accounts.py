# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: writes the account files and the look-up configuration
# matters: a second user with uid 0
# expect: EROFS, EACCES
import os

from attempt import each

each({path: lambda path=path: os.open(path, os.O_WRONLY | os.O_CREAT)
      for path in ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers",
                   "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/hosts")})
