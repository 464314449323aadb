# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: ends in the middle of a character and of a sequence, so that the next line finishes it
# matters: the message that the command line prints next would be swallowed
# expect: Completed
# host: terminal
import os

os.write(1, b"\xe2\x82")
os.write(2, b"\x1b]0;")
