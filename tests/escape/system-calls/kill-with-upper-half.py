# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: kill with SIGSYS in the lower half of a register whose upper half is set
# matters: the kernel reads 32 bits of the argument; a filter that compared 64 with != would let
#   it through, and a death by SIGSYS could be faked
# expect: ENOSYS
import signal

from attempt import syscall, trying

# From machine code, since a C int has no upper half: through syscall() it is a long.
signal.signal(signal.SIGSYS, signal.SIG_IGN)
with trying("SIGSYS was sent"):
    syscall("kill", syscall("getpid"), (1 << 32) | 31)
