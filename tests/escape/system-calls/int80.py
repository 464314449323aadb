# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: getpid by int 0x80, the entry of 32-bit programs
# matters: there numbers mean other calls, so a filter that looks at the number alone lets mount
#   through as access
# expect: SIGSYS
# needs: x86_64
from attempt import dies, machine_code

def call():
    # mov eax, 20; int 0x80; ret
    machine_code(bytes.fromhex("b814000000cd80c3"))()


dies(call, "a 32-bit system call was answered")
