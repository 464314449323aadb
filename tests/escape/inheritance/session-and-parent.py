# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks at its parent, group, session and terminal
# matters: a session that is shared is one that can be signalled, and whose terminal can be used
# expect: own only
import os

from attempt import REAPER, refused, through

if (os.getsid(0), os.getpgrp()) != (os.getpid(), os.getpid()):
    through(f"session {os.getsid(0)}, group {os.getpgrp()}")
if os.getppid() != REAPER:
    through(f"parent {os.getppid()}")
with open("/proc/self/stat", encoding="ascii") as file:
    terminal = int(file.read().rsplit(")", 1)[1].split()[4])
if terminal != 0:
    through(f"terminal {terminal}")
refused("own only")
