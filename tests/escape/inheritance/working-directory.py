# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for a working directory or a root outside, through `..` and through handles
# matters: a working directory that was kept is a handle to the host's tree (CVE-2024-21626)
# expect: own only
import os

from attempt import refused, through

if os.getcwd() != "/home/sandbox" or os.readlink("/proc/self/root") != "/":
    through(f"{os.getcwd()} {os.readlink('/proc/self/root')}")
root = os.stat("/")
os.chdir("../" * 64)
here = os.stat(".")
if (root.st_dev, root.st_ino) != (here.st_dev, here.st_ino):
    through("a directory above the root")
refused("own only")
