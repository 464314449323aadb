# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: reads the largest files of /proc/self as fast as it can
# matters: the kernel walks the whole address space for each
# timeout: 2
# expect: DeadlineExceeded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os

for _ in range(3):
    os.fork()
while True:
    for name in ("smaps", "maps", "pagemap", "numa_maps", "mountinfo", "status"):
        with open("/proc/self/" + name, "rb") as file:
            file.read(1 << 20)
