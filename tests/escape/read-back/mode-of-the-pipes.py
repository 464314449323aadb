# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: takes every permission from its output pipes
# matters: a reader that opens by name would fail, and the run with it
# expect: Completed
import os

os.fchmod(1, 0)
os.fchmod(2, 0)
os.write(1, b"still read\n")
