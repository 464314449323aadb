# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: ends itself by SIGSYS in every way it has
# matters: a death by SIGSYS means that the kernel refused a system call, and is reported as that
# expect: EPERM, ENOSYS
import os
import signal
import threading

from attempt import each, prctl, syscall

each({
    "kill": lambda: os.kill(os.getpid(), signal.SIGSYS),
    "raise": lambda: signal.raise_signal(signal.SIGSYS),
    "a thread": lambda: signal.pthread_kill(threading.get_ident(), signal.SIGSYS),
    "tkill": lambda: syscall("tkill", os.getpid(), 31),
    "a pidfd": lambda: signal.pidfd_send_signal(os.pidfd_open(os.getpid()), signal.SIGSYS),
    "a queue": lambda: syscall("rt_sigqueueinfo", os.getpid(), 31, bytes(128)),
    "its parent's death": lambda: prctl(1, 31),
})
