# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: process_vm_writev on process 1
# matters: it would execute what is written
# expect: EPERM
import ctypes
import struct

from attempt import REAPER, syscall, trying

held = ctypes.create_string_buffer(64)
local = struct.pack("QQ", ctypes.addressof(held), 64)
remote = struct.pack("QQ", 0x400000, 64)
with trying("wrote process 1"):
    syscall("process_vm_writev", REAPER, local, 1, remote, 1, 0)
