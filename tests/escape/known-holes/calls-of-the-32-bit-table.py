# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: socket and mount of the 32-bit table
# matters: ioi/isolate before 2.6: 32-bit system calls passed its list
# source: S10
# expect: SIGSYS
# needs: x86_64
from attempt import ended, machine_code, refused, through

words = set()
for call in (359, 21, 102):  # socket, mount, socketcall
    code = b"\xb8" + call.to_bytes(4, "little") + bytes.fromhex("31db31c931d2cd80c3")
    words.add(ended(machine_code(code)))
if words != {"SIGSYS"}:
    through(f"{words}")
refused("SIGSYS")
