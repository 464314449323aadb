# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: looks for kernel addresses in the tables of its network namespace
# matters: socket tables print the address of each socket
# expect: own only
import os
import re
import socket

from attempt import refused, through

held = [socket.socket(socket.AF_UNIX) for _ in range(4)]
for top, _, files in os.walk("/proc/self/net"):
    for name in files:
        try:
            with open(os.path.join(top, name), encoding="utf-8", errors="replace") as file:
                text = file.read(1 << 16)
        except OSError:
            continue
        if found := re.search(r"\bffff[89a-f][0-9a-f]{11}\b", text):
            through(f"{name}: {found[0]}")
refused("own only")
