# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: maps /dev/zero executable
# matters: /dev is mounted noexec, and that must hold for mappings too
# expect: EPERM
import mmap
import os

from attempt import trying

fd = os.open("/dev/zero", os.O_RDONLY)
with trying("an executable mapping"):
    mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
