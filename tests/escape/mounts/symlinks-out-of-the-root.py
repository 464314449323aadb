# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: follows `..` and its own links above the root
# matters: pivot_root and detach must have left nothing above
# expect: ENOENT
import os

from attempt import canary, reading

os.symlink("../" * 40 + canary("FILE").lstrip("/"), "/tmp/up")
os.symlink(canary("FILE"), "/tmp/straight")
reading("/tmp/up", "/tmp/straight", "/proc/self/root" + canary("FILE"),
        "/proc/self/cwd/" + "../" * 40 + canary("FILE").lstrip("/"),
        "../" * 40 + canary("FILE").lstrip("/"))
