# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: waits in vfork, where only SIGKILL is heard, for a child that sleeps
# matters: such a process is in state D, and has no time for a signal
# timeout: 2
# expect: DeadlineExceeded
# needs: x86_64
import os
import time

from attempt import machine_code, through

# vfork, and in the child pause again and again: mov eax, 58; syscall; test eax, eax; jz child;
# ret; child: mov eax, 34; syscall; jmp child
CODE = bytes.fromhex("b83a0000000f0585c07401c3" "b8220000000f05ebf7")
parent = os.fork()
if parent == 0:
    machine_code(CODE)()
    os._exit(0)
time.sleep(0.3)
with open(f"/proc/{parent}/stat", encoding="ascii") as file:
    state = file.read().rsplit(")", 1)[1].split()[0]
if state != "D":
    raise SystemExit(f"the parent is in state {state}")
machine_code(CODE)()
through("vfork came back")
