# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: NUL and the other control bytes from 1 to 31
# matters: each does something on some terminal
# expect: Completed
# host: terminal
import os

os.write(1, bytes(range(32)) + b"\n")
