# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: reads and writes an I/O port by instruction
# matters: with iopl or a port bitmap left over a program could talk to hardware
# expect: SIGSEGV
# needs: x86_64
from attempt import dies, machine_code

def call():
    machine_code(bytes.fromhex("66ba8000ecc3"))()  # mov dx, 0x80; in al, dx; ret


dies(call, "an I/O port was read")
