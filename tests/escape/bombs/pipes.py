# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: pipes of the largest size, filled, until none is given
# matters: a pipe's buffer is memory of the kernel
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import fcntl
import os
import time

held = []
while True:
    try:
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        held.append((read_end, write_end))
        fcntl.fcntl(write_end, 1031, 1 << 20)
    except OSError:
        time.sleep(0.001)
    try:
        while True:
            os.write(held[-1][1], bytes(65536))
    except OSError:
        pass
