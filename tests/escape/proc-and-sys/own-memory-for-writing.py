# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes read-only memory of its own by /proc/self/mem
# matters: writes by this file ignore page protection, and Dirty COW raced exactly here
# expect: EROFS, EACCES
import os

from attempt import each

each({path: lambda path=path: os.open(path, os.O_RDWR)
      for path in ("/proc/self/mem", "/proc/thread-self/mem", f"/proc/{os.getpid()}/mem")})
