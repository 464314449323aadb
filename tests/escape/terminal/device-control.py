# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: device control strings: sixel graphics, key definitions, settings
# matters: user-defined keys type what the program wants (CVE-2008-2383)
# expect: Completed
# host: terminal
import os

os.write(1, b"\x1bP$q\"p\x1b\\\x1bP+q544e\x1b\\\n")
