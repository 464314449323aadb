# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: lists every process that /proc shows, and tries every pid up to the limit
# matters: a process of the host or of a neighbour in sight is half the way
# expect: own only
import os

from attempt import refused, through

shown = {int(name) for name in os.listdir("/proc") if name.isdigit()}
guessed = {pid for pid in range(1, 33000) if os.path.exists(f"/proc/{pid}/stat")}
strangers = (shown | guessed) - {os.getpid()}
if strangers:
    through(f"processes {sorted(strangers)[:8]}")
refused("own only")
