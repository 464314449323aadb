# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: keeps the kernel busy with page faults until the deadline
# matters: a process that is always in the kernel sees signals late
# timeout: 1
# memory: 128Mi
# expect: DeadlineExceeded
import mmap

while True:
    part = mmap.mmap(-1, 64 << 20)
    for at in range(0, 64 << 20, 4096):
        part[at] = 1
    part.close()
