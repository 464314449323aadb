# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: executes an unlinked file of its own by its descriptor's link
# matters: a memfd in all but name; it may run, and must be no more than any other program
# expect: own only
import os
import shutil
import subprocess

from attempt import refused, through

shutil.copy("/usr/bin/cat", "/tmp/cat")
fd = os.open("/tmp/cat", os.O_RDONLY)
os.unlink("/tmp/cat")
text = subprocess.run([f"/proc/self/fd/{fd}", "/proc/self/status"], pass_fds=[fd],
                      capture_output=True, text=True, check=True).stdout
lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
if (lines["NoNewPrivs"], lines["Seccomp"], lines["Uid"]) != ("1", "2", "\t".join(["65532"] * 4)):
    through(f"{lines['NoNewPrivs']} {lines['Seccomp']} {lines['Uid']}")
refused("own only")
