# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: the controls U+0080 to U+009F in UTF-8
# matters: terminals obey the decoded character
# expect: Completed
# host: terminal
import os

os.write(1, b"\xc2\x9b2J\xc2\x9d0;forged\xc2\x9c\xc2\x90q\xc2\x9c\n")
