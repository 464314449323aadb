# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: opens the descriptors of process 1 by their links
# matters: its report pipe decides how the run ended
# expect: ENOENT
import os

from attempt import each

tries = {f"opened descriptor {fd}": lambda fd=fd: os.open(f"/proc/1/fd/{fd}", os.O_WRONLY)
         for fd in range(64)}
tries["listed them"] = lambda: os.listdir("/proc/1/fd")
each(tries)
