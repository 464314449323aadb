# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: the calls that numeric libraries make at their import: NUMA policy, affinity, huge pages,
#   barriers
# matters: langgenius/dify-sandbox#12: numpy died by a call that the list lacked, and users
#   bisected numbers by hand
# source: E4
# expect: soft
import ctypes
import mmap
import os

from attempt import ended, refused, syscall, through

words = [ended(lambda call=call, arguments=arguments: syscall(call, *arguments))
         for call, arguments in (("mbind", (0, 0, 0, None, 0, 0)),
                                 ("get_mempolicy", (None, None, 0, 0, 0)),
                                 ("membarrier", (0, 0, 0)))]
if strange := set(words) - {"ENOSYS", "EPERM", "EINVAL"}:
    through(f"{strange}")
held = mmap.mmap(-1, 4 << 20)
held.madvise(mmap.MADV_HUGEPAGE)
address = ctypes.addressof(ctypes.c_char.from_buffer(held))
if not address or not os.sched_getaffinity(0):
    raise SystemExit("no affinity")
refused("soft")
