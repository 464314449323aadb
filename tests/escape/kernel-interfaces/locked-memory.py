# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: locks more memory than its limit allows
# matters: locked pages can't be reclaimed
# expect: ENOSYS, EAGAIN
import mmap

from attempt import each, syscall

each({
    "mlock": lambda: syscall("mlock", 0, 4096),
    "MAP_LOCKED": lambda: mmap.mmap(-1, 1 << 20, flags=0x22 | 0x2000),
})
