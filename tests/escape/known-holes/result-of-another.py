# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: looks for the number or the name of any run, its own included
# matters: opensandbox-group/OpenSandbox#423: whoever knew a number could talk to another's
#   sandbox
# source: S7
# expect: nothing found
import os
import re
import socket

from attempt import refused, through

ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
for name in ("environ", "cmdline", "cgroup", "mountinfo", "mounts", "maps", "status", "comm"):
    with open("/proc/self/" + name, "rb") as file:
        if found := ID.search(file.read()):
            through(f"{name}: {found[0].decode()}")
if ID.search(socket.gethostname().encode()) or ID.search(repr(os.environ).encode()):
    through("the name of the host")
refused("nothing found")
