# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for an open descriptor beside 0, 1 and 2, up to the limit and beyond
# matters: CVE-2024-21626: a descriptor of the host's cgroup directory was left open in runc, and
#   was the way out
# expect: nothing found
import os

from attempt import refused, through

for fd in (*range(3, 70000), (1 << 20) - 1):
    try:
        os.fstat(fd)
    except OSError:
        continue
    through(f"descriptor {fd}")
refused("nothing found")
