# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: a far return into the 32-bit code segment, and int 0x80 from there
# matters: a program may change its own mode without any system call; the filter must see what it
#   has become
# expect: SIGSYS, SIGSEGV
# needs: x86_64
import ctypes
import mmap

from attempt import dies, machine_code, syscall

LOW = 0x200000


def call():
    # In the first 4 GiB, where 32-bit code can run: MAP_FIXED | MAP_ANONYMOUS | MAP_PRIVATE.
    syscall("mmap", LOW, mmap.PAGESIZE * 2, 7, 0x32, -1, 0)
    # mov eax, 20; int 0x80; jmp . (it never returns)
    ctypes.memmove(LOW, bytes.fromhex("b814000000cd80") + b"\x90", 8)
    # Told by the exit code, from 64-bit mode no longer: exit(eax & 0x7f) by int 0x80.
    ctypes.memmove(LOW + 8, bytes.fromhex("89c383e37fb801000000cd80"), 12)
    # mov rsp, LOW + 0x1800; push 0x23; push LOW; retfq
    machine_code(b"\x48\xc7\xc4" + (LOW + 0x1800).to_bytes(4, "little") + b"\x6a\x23\x68"
                 + LOW.to_bytes(4, "little") + b"\x48\xcb")()


dies(call, "32-bit code made a system call")
