# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: sends root's credentials over a unix socket
# matters: servers trust SCM_CREDENTIALS and SO_PEERCRED
# expect: EPERM, EINVAL, ESRCH
import socket
import struct

from attempt import each

left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
right.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
each({f"{who}": lambda who=who: left.sendmsg(
    [b"x"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iii", *who))])
    for who in ((1, 65532, 65532), (2, 0, 0), (2, 65532, 0), (99999, 65532, 65532))})
