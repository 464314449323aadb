# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: looks whether it is root, of this or of any other user namespace
# matters: vndee/llm-sandbox#159: a tool for safety ran everything as root
# source: S6
# expect: own only
import os

from attempt import refused, through

with open("/proc/self/uid_map", encoding="ascii") as file:
    inside, outside, count = file.read().split()
if 0 in (*os.getresuid(), *os.getresgid()) or outside == "0" or os.getgroups():
    through(f"uid {os.getresuid()} is {outside} outside")
if (inside, count) != ("65532", "1"):
    through(f"{inside} {count}")
refused("own only")
