# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: mount by int 0x80, under the number that means access to 64-bit programs
# matters: the classic way past a filter that forgets the architecture
# expect: SIGSYS
# needs: x86_64
from attempt import dies, machine_code

def call():
    # mov eax, 21; xor ebx, ebx; xor ecx, ecx; xor edx, edx; int 0x80; ret
    machine_code(bytes.fromhex("b81500000031db31c931d2cd80c3"))()


dies(call, "mount was answered by the 32-bit entry")
