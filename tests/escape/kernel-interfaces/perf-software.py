# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: a software counter of perf for itself
# matters: perf_event_open has been an escape by itself, and a side channel always
# expect: EPERM
import struct

from attempt import syscall, trying

with trying("a counter"):
    syscall("perf_event_open", struct.pack("IIQ", 1, 128, 0) + bytes(112), 0, -1, -1, 0)
