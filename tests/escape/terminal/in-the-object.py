# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: control sequences in what -o yaml shows of the output
# matters: the object is printed to the same terminal
# expect: Completed
# host: yaml
import os

os.write(1, b"\x1b[2J\x1b]0;forged\x07\xc2\x9b2J\x9b\n" + bytes(range(32)))
