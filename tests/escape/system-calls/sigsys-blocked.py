# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: blocks SIGSYS, then makes a call that ends the process
# matters: a blocked signal is not delivered; the kernel's own must be
# expect: ForbiddenSyscall, SIGSYS
import signal

from attempt import dies, syscall

def call():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGSYS})
    syscall("kexec_load", 0, 0, 0, 0)


dies(call, "the process outlived a forbidden call")
