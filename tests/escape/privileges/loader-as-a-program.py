# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: runs a file without execute permission, and one on a noexec mount, by the loader
# matters: the loader doesn't ask for the permission; what it runs must have every lock all the
#   same
# expect: own only
import glob
import os
import shutil
import subprocess

from attempt import refused, through

loader = (glob.glob("/lib64/ld-linux-*") + glob.glob("/lib/ld-linux-*"))[0]
shutil.copy("/usr/bin/cat", "/tmp/cat")
os.chmod("/tmp/cat", 0o444)
text = subprocess.run([loader, "/tmp/cat", "/proc/self/status"], capture_output=True, text=True,
                      check=True).stdout
lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
if lines["NoNewPrivs"] != "1" or lines["Seccomp"] != "2" or int(lines["CapEff"], 16):
    through("the loader loses locks")
refused("own only")
