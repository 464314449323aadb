# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: truncates a file of the runtime by its path
# matters: no descriptor is needed for it
# expect: EROFS, EACCES
import os
import sys

from attempt import trying

with trying("truncated the interpreter"):
    os.truncate(os.path.realpath(sys.executable), 0)
