# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: modify_ldt, for a call gate or a 16-bit segment of its own
# matters: old code, and the local descriptor table has been the way in more than once
# expect: ENOSYS
# needs: x86_64
import struct

from attempt import syscall, trying

with trying("an entry in the local descriptor table"):
    syscall("modify_ldt", 1, struct.pack("<IIII", 0, 0, 0xFFFFF, 0x51), 16)
