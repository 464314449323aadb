# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: sets the title of the window, and asks for it to be typed back
# matters: terminals have typed the title back as if from the keyboard (CVE-2003-0063)
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b]0;forged\x07\x1b[21t\n")
