# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: replaces its output descriptors by files and links of its own
# matters: the host must go on reading the pipe that it made, not a name
# expect: Completed
import os

from attempt import canary

os.symlink(canary("FILE"), "/tmp/out")
fd = os.open("/tmp/other", os.O_CREAT | os.O_WRONLY)
os.dup2(fd, 1)
os.dup2(fd, 2)
print("nobody sees this")
