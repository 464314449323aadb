# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: touches one page in every 2 MiB of a vast mapping
# matters: page tables are memory that no program sees as its own
# timeout: 2
# expect: OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import mmap

held = []
while True:
    part = mmap.mmap(-1, 16 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE)
    part.madvise(15)  # no huge pages
    held.append(part)
    for at in range(0, 16 << 30, 2 << 20):
        part[at] = 1
