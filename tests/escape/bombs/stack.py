# SPDX-License-Identifier: Apache-2.0
# family: bombs
# needs: x86_64
# tries: a stack without an end, in threads and in the main program
# matters: the stack grows by itself, past every allocator
# timeout: 2
# expect: Signaled, OOMKilled, bounded
# memory: 128Mi
# cpu: 400m
# host: neighbour
import resource

from attempt import machine_code, through

limit = resource.getrlimit(resource.RLIMIT_STACK)
if limit[1] == resource.RLIM_INFINITY:
    through("no limit on the stack")
resource.setrlimit(resource.RLIMIT_STACK, (limit[1], limit[1]))
# Instructions that push until the kernel has enough: l: push rax; jmp l
machine_code(bytes.fromhex("50ebfd"))()
