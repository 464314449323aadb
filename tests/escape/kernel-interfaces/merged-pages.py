# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: has its pages merged with equal pages of others
# matters: a write to a merged page takes longer, which tells what neighbours have in memory, and
#   rowhammer on one reaches the other
# expect: EINVAL, ENOSYS
import ctypes
import mmap

from attempt import each, prctl, syscall

MADV_MERGEABLE = 12
held = mmap.mmap(-1, 1 << 16)
address = ctypes.addressof(ctypes.c_char.from_buffer(held))
each({
    "madvise": lambda: syscall("madvise", address, 1 << 16, MADV_MERGEABLE),
    "madvise with bits above the 32nd": lambda: syscall("madvise", address, 1 << 16,
                                                        (1 << 32) | MADV_MERGEABLE),
    "prctl(PR_SET_MEMORY_MERGE)": lambda: prctl(67, 1),
})
