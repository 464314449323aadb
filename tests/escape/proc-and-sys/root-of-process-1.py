# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: looks through root, cwd and exe of process 1
# matters: they would show the file system as process 1 sees it
# expect: ENOENT
import os

from attempt import canary, each

each({
    "root": lambda: os.listdir("/proc/1/root/"),
    "cwd": lambda: os.listdir("/proc/1/cwd/"),
    "exe": lambda: os.readlink("/proc/1/exe"),
    "exe, opened": lambda: os.open("/proc/1/exe", os.O_RDONLY),
    "a file of the host": lambda: os.open("/proc/1/root" + canary("FILE"), os.O_RDONLY),
})
