# SPDX-License-Identifier: Apache-2.0
# family: cgroups
# tries: takes the memory in shared mappings without a file
# matters: they are files in memory as well, on a mount that nobody sees
# memory: 64Mi
# expect: OOMKilled
import mmap

from attempt import through

held = []
for _ in range(128):
    part = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_SHARED)
    part.write(b"x" * (1 << 20))
    held.append(part)
through("128 MiB of shared memory")
