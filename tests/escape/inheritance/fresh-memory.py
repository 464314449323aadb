# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: searches a hundred megabytes of new memory for what others left in it
# matters: the kernel must clear pages; an allocator that keeps them within a process must not be
#   inherited
# expect: nothing found
import mmap

from attempt import refused, through

for _ in range(100):
    part = mmap.mmap(-1, 1 << 20)
    if part.read(1 << 20).strip(b"\0"):
        through("memory that isn't empty")
    part.close()
refused("nothing found")
