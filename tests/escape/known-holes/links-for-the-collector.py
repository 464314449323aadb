# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: plants links where the output is collected: its working directory, its output, the names
#   of results
# matters: judge0/judge0#550, compiler-explorer/compiler-explorer#6026, hydro-dev/Hydro#1111: the
#   host followed them, as root
# source: S4
# expect: Completed
import os

from attempt import canary

os.chdir("/home/sandbox")
os.unlink("main.py")
for name in ("main.py", "stdout", "stderr", "metadata.txt", "box", "stdout.txt", "compile.txt"):
    os.symlink(canary("FILE"), name)
os.makedirs("box2")
os.symlink(canary("DIRECTORY"), "box2/tmp")
print("collected")
