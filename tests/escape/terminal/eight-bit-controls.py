# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: the same controls as single bytes 0x80 to 0x9f
# matters: filters look for ESC and miss CSI as one byte
# expect: Completed
# host: terminal
import os

os.write(1, bytes(range(0x80, 0xA0)) + b"\x9b2J\x9d0;forged\x07")
