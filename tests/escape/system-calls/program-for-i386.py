# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: starts a 32-bit program
# matters: the whole program would speak to the kernel by the other table
# expect: SIGSYS, ENOEXEC
# needs: x86_64
import os
import struct

from attempt import dies

# _start: mov eax, 1; mov ebx, 7; int 0x80 (exit with 7)
CODE = bytes.fromhex("b801000000bb07000000cd80")
BASE = 0x8048000
HEAD = (b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
    "<HHIIIIIHHHHHH", 2, 3, 1, BASE + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0))
SEGMENT = struct.pack("<IIIIIIII", 1, 0, BASE, BASE, 84 + len(CODE), 84 + len(CODE), 5, 0x1000)

with open("/tmp/i386", "wb") as file:
    file.write(HEAD + SEGMENT + CODE)
os.chmod("/tmp/i386", 0o755)
dies(lambda: os.execv("/tmp/i386", ["i386"]), "a 32-bit program ran")
