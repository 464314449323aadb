# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: erases the screen and moves the cursor
# matters: what stood there before is gone, and a forged screen can take its place
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b[2J\x1b[H$ \n")
