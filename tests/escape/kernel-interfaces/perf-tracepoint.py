# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: a trace point, a breakpoint and a raw processor event
# matters: they see the kernel, and every process of the processor
# expect: EPERM
import struct

from attempt import each, syscall

each({f"an event of type {kind}": lambda kind=kind: syscall(
    "perf_event_open", struct.pack("IIQ", kind, 128, 1) + bytes(112), 0, -1, -1, 0)
    for kind in (0, 2, 3, 4, 5, 6, 7, 8, 9, 10)})
