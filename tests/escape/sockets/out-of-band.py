# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: out-of-band data on a unix socket
# matters: CVE-2025-38236: MSG_OOB on AF_UNIX freed a buffer twice and was a way from Chrome's
#   sandbox into the kernel; nothing needs it
# expect: ENOTSUP
import socket

from attempt import each, syscall

left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
each({
    "send": lambda: left.send(b"x", socket.MSG_OOB),
    "sendmsg": lambda: left.sendmsg([b"x"], [], socket.MSG_OOB),
    "sendto with bits above the 32nd": lambda: syscall("sendto", left.fileno(), b"x", 1,
                                                       (1 << 32) | socket.MSG_OOB, None, 0),
})
