# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: replaces its own source file by a link to a file of the host, and fails with a traceback
# matters: whoever prints the source lines of the traceback follows the link
# expect: Error
import os

from attempt import canary

os.unlink("/home/sandbox/main.py")
os.symlink(canary("FILE"), "/home/sandbox/main.py")
raise RuntimeError("look at my source")
