# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: unshare in a child made by vfork, which shares the parent's memory
# matters: the filter belongs to the task, and this task was made in an unusual way
# expect: EPERM
# needs: x86_64
import errno
import os

from attempt import CLONE_NEWUSER, machine_code, refused, through

# mov eax, 58; syscall (vfork); test eax, eax; jnz parent;
# child: mov eax, 272; mov edi, CLONE_NEWUSER; syscall; mov edi, eax; neg edi; mov eax, 60; syscall
# parent: ret
CHILD = (b"\xb8\x10\x01\x00\x00\xbf" + CLONE_NEWUSER.to_bytes(4, "little")
         + bytes.fromhex("0f0589c7f7dfb83c0000000f05"))
CODE = bytes.fromhex("b83a0000000f0585c075") + bytes([len(CHILD)]) + CHILD + b"\xc3"

# The return address is safe: the child doesn't return.
pid = machine_code(CODE)()
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if code == 0:
    through("a user namespace")
refused(errno.errorcode[code])
