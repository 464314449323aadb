# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads what /proc tells about process 1 to everybody
# matters: names, uids and stack addresses of the supervisor
# expect: ENOENT
from attempt import reading

reading(*(f"/proc/1/{name}" for name in ("status", "stat", "statm", "comm", "wchan", "stack",
                                         "syscall", "cgroup", "mountinfo", "limits", "io")))
