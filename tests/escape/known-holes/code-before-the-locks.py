# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: has code of its own run before the locks: by the variables, files and modules that an
#   interpreter loads at its start
# matters: langgenius/dify-sandbox#27: a preload that the user supplied ran before the filter was
#   set
# source: S1
# env: LD_PRELOAD=/home/sandbox/planted.so
# env: PYTHONSTARTUP=/home/sandbox/main.py
# env: PYTHONPATH=/home/sandbox
# env: PYTHONINSPECT=1
# env: PYTHONHOME=/home/sandbox
# expect: own only
import os
import sys

from attempt import own_status, refused, through

# The program is on disk before the interpreter knows its name; nothing may have loaded it but the
# runner, and the locks were there already.
if own_status("Seccomp") != "2" or own_status("NoNewPrivs") != "1":
    through("a lock is missing")
with open("/proc/self/environ", "rb") as file:
    started_with = file.read()
for name in (b"LD_PRELOAD", b"PYTHONSTARTUP", b"PYTHONPATH", b"PYTHONHOME"):
    if name + b"=" in started_with:
        through(f"the interpreter was started with {name.decode()}")
if not sys.flags.isolated or "sitecustomize" in sys.modules or "usercustomize" in sys.modules:
    through("the interpreter takes start-up files")
if os.environ["PYTHONPATH"] != "/home/sandbox":
    raise SystemExit("the variable didn't arrive at all")
refused("own only")
