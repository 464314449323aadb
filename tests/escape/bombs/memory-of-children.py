# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: children take memory, and are made anew when one is killed
# matters: the kernel's killer works through the children one by one, under a lock
# timeout: 2
# expect: OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

while True:
    try:
        if os.fork() == 0:
            held = []
            while True:
                held.append(bytearray(b"x" * (1 << 20)))
    except OSError:
        pass
