# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: writes into a directory of the host where everybody may write
# matters: the plainest attempt to leave something
# expect: ENOENT
import os

from attempt import canary, each

each({path: lambda path=path: os.open(path, os.O_CREAT | os.O_WRONLY)
      for path in (canary("DIRECTORY") + "/planted", canary("FILE"),
                   "/proc/self/root" + canary("DIRECTORY") + "/planted")})
