# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: getpid by sysenter, the other 32-bit entry
# matters: an entry point that few filters are tried on
# expect: SIGSYS, SIGILL, SIGSEGV
# needs: x86_64
from attempt import dies, machine_code

def call():
    # mov eax, 20; mov rbp, rsp; sysenter
    machine_code(bytes.fromhex("b8140000004889e50f34c3"))()


dies(call, "sysenter was answered")
