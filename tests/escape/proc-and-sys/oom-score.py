# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: makes itself the last choice of the kernel's memory killer
# matters: the killer would take somebody else's process
# expect: EROFS, EACCES
import os

from attempt import each

def write(path, text):
    os.write(os.open(path, os.O_WRONLY), text)


each({
    "oom_score_adj": lambda: write("/proc/self/oom_score_adj", b"-1000"),
    "oom_score_adj, up": lambda: write("/proc/self/oom_score_adj", b"999"),
    "oom_adj": lambda: write("/proc/self/oom_adj", b"-17"),
})
