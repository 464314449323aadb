# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: process_vm_readv and process_vm_writev on its own child
# matters: the calls are off whoever is at the other end
# expect: EPERM
import ctypes
import os
import signal
import struct

from attempt import name_of, refused, syscall, through

held = ctypes.create_string_buffer(64)
vector = struct.pack("QQ", ctypes.addressof(held), 64)
child = os.fork()
if child == 0:
    signal.pause()
met = set()
for call in ("process_vm_readv", "process_vm_writev"):
    try:
        syscall(call, child, vector, 1, vector, 1, 0)
        met.add("")
    except OSError as error:
        met.add(name_of(error))
os.kill(child, signal.SIGKILL)
if "" in met:
    through("the memory of a child")
refused(", ".join(met))
