# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: the same on the other stream, beside the messages of the command line
# matters: the streams are filtered each for itself
# expect: Completed
# host: terminal
import os

os.write(2, b"\x1b[2J\x1b]0;forged\x07\xc2\x9b2J\n")
