# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: looks for anything in /proc but processes
# matters: a new kernel may have a new file
# expect: own only
import os

from attempt import refused, through

names = {name for name in os.listdir("/proc") if not name.isdigit()}
if names - {"self", "thread-self"}:
    through(f"{sorted(names)}")
refused("own only")
