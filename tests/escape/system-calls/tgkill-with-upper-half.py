# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: tgkill with SIGSYS in the lower half of a register whose upper half is set
# matters: the same as for kill, one argument further
# expect: ENOSYS
import signal
import threading

from attempt import syscall, trying

signal.signal(signal.SIGSYS, signal.SIG_IGN)
with trying("SIGSYS was sent"):
    syscall("tgkill", syscall("getpid"), threading.get_native_id(), (1 << 32) | 31)
