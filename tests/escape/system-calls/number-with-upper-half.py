# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: unshare under a number with bits above the 32nd set
# matters: the kernel takes 32 bits of the register; a filter that compared 64 would not know the
#   number
# expect: EPERM
# needs: x86_64
from attempt import CLONE_NEWUSER, machine_code, trying

def call():
    # mov rax, 0x1_0000_0110; mov rdi, CLONE_NEWUSER; syscall; ret
    result = machine_code(b"\x48\xb8" + (0x100000000 | 272).to_bytes(8, "little") + b"\x48\xc7\xc7"
                          + CLONE_NEWUSER.to_bytes(4, "little") + b"\x0f\x05\xc3")()
    if result < 0:
        raise OSError(-result, "unshare")


with trying("unshare was taken for another call"):
    call()
