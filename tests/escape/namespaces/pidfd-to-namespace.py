# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: PIDFD_GET_NET_NAMESPACE and the like on a pidfd of process 1
# matters: since Linux 6.11 a pidfd alone is enough to open the namespaces of a process
# expect: ENOSYS
from attempt import REAPER, each, syscall

pidfd = syscall("pidfd_open", REAPER, 0)
each({f"ioctl {command:#x} on a pidfd": lambda command=command: syscall("ioctl", pidfd, command, 0)
      for command in range(0xFF01, 0xFF0B)})
