# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGKILL to process 1 by a pidfd, to the process, its thread and its group
# matters: another call, another check
# expect: no effect, EINVAL, EPERM, ESRCH
from attempt import REAPER, signalled, syscall

pidfd = syscall("pidfd_open", REAPER, 0)
signalled(REAPER, (0, 1, 2, 4),
          lambda _, flags: syscall("pidfd_send_signal", pidfd, 9, None, flags))
