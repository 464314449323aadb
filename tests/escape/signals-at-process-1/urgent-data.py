# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: has a socket send SIGURG to process 1
# matters: signals that the kernel sends for a descriptor pass other checks
# expect: no effect, ENOSYS, EPERM, ENOTSUP
import fcntl
import socket

from attempt import REAPER, signalled

left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
fcntl.fcntl(right.fileno(), fcntl.F_SETOWN, REAPER)
signalled(REAPER, range(50), lambda *_: left.send(b"x", socket.MSG_OOB))
