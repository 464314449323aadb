# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: plants symbolic links to a file of the host under every name that a collector might take
# matters: judge0#550, compiler-explorer#6026 and Hydro#1111: the host followed links that the
#   program had planted
# expect: Completed
import os

from attempt import canary

for name in ("result", "output.txt", "stdout", "result.json", "status", "core", "main.py.out"):
    for place in ("/tmp", "/home/sandbox", "/dev/shm"):
        os.symlink(canary("FILE"), os.path.join(place, name))
