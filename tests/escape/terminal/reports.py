# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: asks for the cursor position, the terminal type and its settings
# matters: the answers come as input to whatever reads the terminal next
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1bZ\x05\n")
