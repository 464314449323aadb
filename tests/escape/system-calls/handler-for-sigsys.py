# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: a handler for SIGSYS around a call that ends the process
# matters: if the process lived on, it could try again, and the report of the forbidden call would
#   be lost
# expect: ForbiddenSyscall, SIGSYS
import signal

from attempt import dies, syscall

def call():
    signal.signal(signal.SIGSYS, lambda *_: None)
    syscall("reboot", 0, 0, 0, 0)


dies(call, "the process outlived a forbidden call")
