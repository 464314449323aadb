# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: capset with every capability
# matters: any one of them may be the way out
# expect: EPERM
import struct

from attempt import syscall, trying

header = struct.pack("II", 0x20080522, 0)
with trying("capabilities"):
    syscall("capset", header, struct.pack("6I", *(0xFFFFFFFF,) * 6))
