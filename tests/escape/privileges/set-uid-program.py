# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: a set-uid copy of a program, owned by itself, and what it becomes
# matters: on another mount or with another owner this is how local root begins
# expect: own only
import os
import shutil
import subprocess

from attempt import refused, through

for place in ("/tmp", "/dev/shm", "/home/sandbox"):
    copy = os.path.join(place, "id")
    shutil.copy("/usr/bin/id", copy)
    os.chmod(copy, 0o6755)
    shown = subprocess.run([copy], capture_output=True, text=True, check=True).stdout
    if "uid=65532" not in shown or "euid" in shown or "egid" in shown:
        through(shown)
refused("own only")
