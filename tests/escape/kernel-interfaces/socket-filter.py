# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: attaches a classic BPF program to a socket
# matters: it is compiled to machine code in the kernel: memory that counts against no limit of
#   the run, from a budget that the whole node shares, so that enough of it keeps other sandboxes
#   from loading their system call filter
# expect: EPERM
import ctypes
import socket
import struct

from attempt import trying

SO_ATTACH_FILTER = 26
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFF))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
with trying("a filter on a socket"):
    socket.socket(socket.AF_UNIX).setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
