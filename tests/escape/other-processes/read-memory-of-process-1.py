# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: process_vm_readv on process 1
# matters: the memory of the supervisor without ptrace
# expect: EPERM
import ctypes
import struct

from attempt import REAPER, syscall, trying

held = ctypes.create_string_buffer(64)
local = struct.pack("QQ", ctypes.addressof(held), 64)
remote = struct.pack("QQ", 0x400000, 64)
with trying("read process 1"):
    syscall("process_vm_readv", REAPER, local, 1, remote, 1, 0)
