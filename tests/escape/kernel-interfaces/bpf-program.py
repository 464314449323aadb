# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: loads a BPF socket filter, and lists and opens the programs of the node
# matters: the verifier runs in the kernel on what the program writes
# expect: EPERM
import ctypes
import struct

from attempt import each, syscall

code = ctypes.create_string_buffer(bytes.fromhex("b7000000000000009500000000000000"))
licence = ctypes.create_string_buffer(b"GPL")
attributes = struct.pack("IIQQ", 1, 2, ctypes.addressof(code), ctypes.addressof(licence))
each({
    "loaded a program": lambda: syscall("bpf", 5, attributes + bytes(104), 128),
    "the next program": lambda: syscall("bpf", 11, bytes(128), 128),
    "a program by its number": lambda: syscall("bpf", 13, struct.pack("I", 1) + bytes(124), 128),
    "a pinned object": lambda: syscall("bpf", 7, bytes(128), 128),
    "a token": lambda: syscall("bpf", 36, bytes(128), 128),
})
