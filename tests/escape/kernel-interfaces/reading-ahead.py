# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: sets the node's disk to work on files of the runtime, by readahead and sync_file_range
# matters: the calls return at once and the disk works on, which no limit counts
# expect: ENOSYS
import os

from attempt import each, syscall

file = os.open("/usr/bin/python3", os.O_RDONLY)
each({
    "readahead": lambda: syscall("readahead", file, 0, 1 << 20),
    "sync_file_range": lambda: syscall("sync_file_range", file, 0, 1 << 20, 7),
})
