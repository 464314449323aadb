# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: changes its security label, for itself and for the next program
# matters: AppArmor and SELinux take a change of profile by these files
# expect: EROFS, EACCES
import os

from attempt import each

each({name: lambda name=name: os.open("/proc/self/attr/" + name, os.O_WRONLY)
      for name in ("current", "exec", "fscreate", "keycreate", "sockcreate")})
