# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: the file transfer and notification sequences of common terminals
# matters: a download appears in the home of the user
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b]1337;File=name=eA==;inline=0:eA==\x07\x1b]9;x\x07\x1b]777;notify;a;b\x07\n")
