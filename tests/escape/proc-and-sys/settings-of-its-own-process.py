# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: writes the other files of its own process
# matters: dump filter, timer slack, scheduler group, reference bits: none is needed, each is
#   kernel code
# expect: EROFS, EACCES, ENOENT
import os

from attempt import each

each({name: lambda name=name: os.open("/proc/self/" + name, os.O_WRONLY)
      for name in ("coredump_filter", "timerslack_ns", "autogroup", "clear_refs", "sched", "comm",
                   "latency", "make-it-fail", "fail-nth", "task/self/comm")})
