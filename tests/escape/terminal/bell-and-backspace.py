# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: bells, backspaces, form feeds and deletes
# matters: backspaces overwrite what was printed: a log says another thing than it seems
# expect: Completed
# host: terminal
import os

os.write(1, b"ok\x08\x08no\x07\x0c\x0b\x7f\n")
