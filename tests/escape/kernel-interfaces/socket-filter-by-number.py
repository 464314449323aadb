# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: attaches an extended BPF program to a socket, and programs that choose among sockets
# matters: three more doors to BPF beside the bpf call
# expect: EPERM, ENOSYS
import ctypes
import socket
import struct

from attempt import each, syscall

code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
sock = socket.socket(socket.AF_UNIX)
each({
    "SO_ATTACH_BPF": lambda: sock.setsockopt(1, 50, struct.pack("i", 0)),
    "SO_ATTACH_REUSEPORT_CBPF": lambda: sock.setsockopt(1, 51, program),
    "SO_ATTACH_REUSEPORT_EBPF": lambda: sock.setsockopt(1, 52, struct.pack("i", 0)),
    "SO_ATTACH_FILTER with bits above the 32nd": lambda: syscall(
        "setsockopt", sock.fileno(), (1 << 32) | 1, (1 << 32) | 26, program, 16),
})
