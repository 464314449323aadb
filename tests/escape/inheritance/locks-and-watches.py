# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for file locks that it holds, and for children that it never made
# matters: both are inherited across exec
# expect: nothing found
import os

from attempt import refused, through

for name in os.listdir("/proc/self/fdinfo"):
    try:
        with open(f"/proc/self/fdinfo/{name}", encoding="ascii") as file:
            text = file.read()
    except OSError:
        continue
    if "lock:" in text or "inotify" in text:
        through(text)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    refused("nothing found")
through("a child of somebody else")
