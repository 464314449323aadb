# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: reads what the kernel gave it at exec, before anything was removed
# matters: unsetting a variable leaves its bytes on the stack
# expect: own only
import os

from attempt import SECRET, refused, through

with open("/proc/self/environ", "rb") as file:
    first = file.read()
if SECRET in first:
    through("a secret")
names = {part.split(b"=")[0].decode() for part in first.split(b"\0") if part}
if names - set(os.environ):
    through(f"{sorted(names - set(os.environ))}")
refused("own only")
