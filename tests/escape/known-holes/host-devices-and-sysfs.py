# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: looks for the host's /dev and /sys below its root
# matters: bytedance/SandboxFusion binds the host's /dev and mounts a sysfs into its jail
# expect: nothing found
import os

from attempt import refused, through

if os.path.exists("/sys/kernel") or len(os.listdir("/dev")) > 10:
    through(f"{os.listdir('/dev')}")
for top, directories, names in os.walk("/"):
    if top == "/":
        directories.remove("proc")
    if {"kernel", "class", "devices"} <= set(directories) or "mem" in names or "kvm" in names:
        through(top)
refused("nothing found")
