# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: switches to the alternate screen, hides the cursor, and locks the keyboard
# matters: the terminal looks dead, or shows what the program wants
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b[?1049h\x1b[?25l\x1b[2h\x1bc\n")
