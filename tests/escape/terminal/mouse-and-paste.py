# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: switches on mouse reports and bracketed paste
# matters: moving the mouse types into the shell
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b[?1000h\x1b[?1006h\x1b[?2004h\n")
