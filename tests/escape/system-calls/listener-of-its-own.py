# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: a filter with a notification listener, by which it would answer the calls of its children
# matters: SECCOMP_ADDFD and friends put descriptors into other processes
# expect: EPERM
import ctypes
import struct

from attempt import syscall, trying

instruction = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FC00000))
fprog = struct.pack("@HP", 1, ctypes.addressof(instruction))
with trying("a notification listener"):
    syscall("seccomp", 1, 8, fprog)
