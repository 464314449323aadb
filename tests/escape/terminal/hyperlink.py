# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: a link whose text says another address, by OSC 8
# matters: a click goes elsewhere
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1b]8;;http://192.0.2.1/\x1b\\https://example.org/\x1b]8;;\x1b\\\n")
