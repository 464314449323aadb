# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: marks a page of memory as broken
# matters: the node loses real memory with each
# expect: ENOSYS
import ctypes
import mmap

from attempt import each, syscall

held = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(held))
each({f"madvise {advice}": lambda advice=advice: syscall("madvise", address, 4096, advice)
      for advice in (100, 101)})
