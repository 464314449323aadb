# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: takes /proc/1 as a path only, and goes on from there and by the directory of a thread
# matters: hidepid must hide it from every way to name it
# expect: ENOENT
import os

from attempt import each

# The name alone can be taken, which tells that there is a process 1; nothing leads further.
handle = os.open("/proc/1", os.O_PATH)
each({
    "its owner": lambda: os.fstat(handle),
    "its list": lambda: os.listdir(f"/proc/self/fd/{handle}"),
    "its status": lambda: os.open("status", os.O_RDONLY, dir_fd=handle),
    "its memory": lambda: os.open("mem", os.O_RDONLY, dir_fd=handle),
    "its root": lambda: os.open("root/", os.O_RDONLY, dir_fd=handle),
    "its owner, by name": lambda: os.stat("/proc/1"),
    "as a thread": lambda: os.stat("/proc/self/task/1"),
    "its threads": lambda: os.listdir("/proc/1/task"),
    "by .. of itself": lambda: os.stat("/proc/self/../1/status"),
})
