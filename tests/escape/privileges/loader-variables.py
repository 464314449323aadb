# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: has the loader of a program that it starts load a library of its own
# matters: into a set-uid program that is root; here it must be nobody new
# expect: own only
import os
import shutil
import subprocess

from attempt import refused, through

shutil.copy("/usr/bin/cat", "/tmp/cat")
os.chmod("/tmp/cat", 0o6755)
variables = {"LD_PRELOAD": "/tmp/missing.so", "LD_AUDIT": "/tmp/missing.so",
             "LD_LIBRARY_PATH": "/tmp", "GLIBC_TUNABLES": "glibc.malloc.mxfast=" + "A" * 4096}
text = subprocess.run(["/tmp/cat", "/proc/self/status"], env=variables, capture_output=True,
                      text=True).stdout
lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
if lines and (lines["Uid"].split() != ["65532"] * 4 or int(lines["CapPrm"], 16)):
    through(lines["Uid"])
refused("own only")
