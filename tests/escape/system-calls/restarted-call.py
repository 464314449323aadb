# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: restart_syscall out of place, and sigreturn with a frame that asks for the 32-bit segment
# matters: both let the kernel continue where the filter has looked before
# expect: SIGSEGV, SIGSYS, EINTR
# needs: x86_64
from attempt import ended, machine_code, refused, syscall, through

# rt_sigreturn with a stack full of 0x23 bytes: a frame whose code segment is the 32-bit one.
def forged():
    machine_code(bytes.fromhex("4881ec00080000" "4889e7b900010000" "48b82300230023002300" "f348ab"
                               "b80f0000000f05c3"))()


words = {ended(lambda: syscall(219)), ended(forged)}
if "returned" in words or "silent" in words:
    through("a forged frame was accepted")
refused(", ".join(sorted(words)))
