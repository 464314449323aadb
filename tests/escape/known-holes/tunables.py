# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: GLIBC_TUNABLES that overflow, for a set-uid copy of a program
# matters: CVE-2023-4911: the loader overflowed before it dropped the variable; no set-uid program
#   may be there to gain from it
# expect: own only
import os
import shutil
import subprocess

from attempt import refused, through

shutil.copy("/usr/bin/id", "/tmp/id")
os.chmod("/tmp/id", 0o6755)
value = "glibc.malloc.mxfast=glibc.malloc.mxfast=" + "A" * 2000
done = subprocess.run(["/tmp/id", "-u"], env={"GLIBC_TUNABLES": value, "Z": "A" * 4000},
                      capture_output=True, text=True)
if done.stdout.strip() not in ("", "65532"):
    through(done.stdout)
refused("own only")
