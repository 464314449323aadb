# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: counts events of process 1, of a process of the host, and of a whole processor
# matters: counters of others leak what they do
# expect: EPERM
import struct

from attempt import REAPER, canary, each, syscall

attributes = struct.pack("IIQ", 1, 128, 0) + bytes(112)
each({f"events of {pid}": lambda pid=pid, cpu=cpu: syscall("perf_event_open", attributes, pid, cpu,
                                                           -1, 0)
      for pid, cpu in ((0, -1), (REAPER, -1), (int(canary("PIDS").split()[0]), -1), (-1, 0))})
