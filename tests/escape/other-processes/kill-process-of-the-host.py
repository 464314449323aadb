# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: signals a process of the host by the pid that it has there
# matters: processes with the same kernel uid run there: only the pid namespace is between
# expect: ESRCH
import os
import signal

from attempt import canary, each

each({f"sent {name.name} to {pid}": lambda name=name, pid=pid: os.kill(int(pid), name)
      for name in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP)
      for pid in canary("PIDS").split()})
