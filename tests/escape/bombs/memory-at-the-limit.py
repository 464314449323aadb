# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: lives just below its limit and goes on touching pages
# matters: reclaim at the limit is work of the kernel, and takes locks
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import mmap

held = bytearray(b"x" * (80 << 20))
while True:
    part = mmap.mmap(-1, 8 << 20)
    for at in range(0, 8 << 20, 4096):
        part[at] = 1
    part.close()
