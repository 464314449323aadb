# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: shifts to the line drawing character set
# matters: everything that follows is unreadable
# expect: Completed
# host: terminal
import os

os.write(1, b"\x0e\x1b(0lqqqk\x1b)0\n")
