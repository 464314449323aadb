# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: replaces /dev/stdout and /dev/fd by links of its own
# matters: programs that it starts would write where it wants
# expect: EROFS, EACCES, EPERM
import os

from attempt import each

each({path: lambda path=path: os.unlink(path)
      for path in ("/dev/stdout", "/dev/stderr", "/dev/fd", "/dev/stdin")})
