# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: writes the scheduler group's priority of itself and of process 1
# matters: a group in its own session competes as one
# expect: EROFS, ENOENT, EACCES
import os

from attempt import each

each({path: lambda path=path: os.open(path, os.O_WRONLY)
      for path in ("/proc/self/autogroup", "/proc/1/autogroup", "/proc/self/timerslack_ns")})
