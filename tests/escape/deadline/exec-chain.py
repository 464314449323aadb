# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: executes itself again and again
# matters: a new program in the same process forgets what was armed in the old
# timeout: 1
# expect: DeadlineExceeded
import os
import sys

os.execv(sys.executable, [sys.executable, "-c",
                          "import os, sys; os.execv(sys.executable, [sys.executable, '-c', "
                          "sys.argv[1], sys.argv[1]])",
                          "import os, sys; os.execv(sys.executable, [sys.executable, '-c', "
                          "sys.argv[1], sys.argv[1]])"])
