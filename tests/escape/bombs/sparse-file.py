# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: a file of a terabyte with a hole in it, and a write at its end
# matters: sizes that nobody expects
# timeout: 2
# expect: EFBIG, EINVAL
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os
import signal

from attempt import each

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fd = os.open("/tmp/sparse", os.O_CREAT | os.O_RDWR)
each({
    "truncate": lambda: os.ftruncate(fd, 1 << 40),
    "write": lambda: os.pwrite(fd, b"x", 1 << 40),
    "allocate": lambda: os.posix_fallocate(fd, 0, 1 << 40),
})
