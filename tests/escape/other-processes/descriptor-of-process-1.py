# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: pidfd_getfd for each low descriptor of process 1
# matters: its pipe to the jailer carries the program's wait status
# expect: EPERM
from attempt import REAPER, each, syscall

pidfd = syscall("pidfd_open", REAPER, 0)
each({f"took descriptor {fd}": lambda fd=fd: syscall("pidfd_getfd", pidfd, fd, 0)
      for fd in range(32)})
