# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: changes a path in memory while the kernel reads it
# matters: a filter that looked at memory could be shown one thing and the kernel another; ours
#   looks at registers alone
# expect: ENOENT
import ctypes
import os
import threading

from attempt import AT_FDCWD, canary, refused, syscall, through

path = ctypes.create_string_buffer(b"/dev/null".ljust(64, b"\0"))
wanted = [b"/dev/null".ljust(64, b"\0"), canary("FILE").encode().ljust(64, b"\0")]
stop = False


def flip():
    while not stop:
        for value in wanted:
            ctypes.memmove(path, value, 64)


thread = threading.Thread(target=flip)
thread.start()
seen = b""
for _ in range(3000):
    try:
        fd = syscall("openat", AT_FDCWD, path, os.O_RDONLY, 0)
    except OSError:
        continue
    seen += os.read(fd, 64)
    os.close(fd)
stop = True
thread.join()
if seen:
    through("a file outside")
refused("ENOENT")
