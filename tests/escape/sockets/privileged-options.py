# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: socket options for the privileged: mark, priority, buffers by force
# matters: marks choose routes and pass firewalls
# expect: EPERM
import socket

from attempt import each

sock = socket.socket(socket.AF_UNIX)
each({
    "SO_MARK": lambda: sock.setsockopt(1, 36, 1),
    "SO_RCVBUFFORCE": lambda: sock.setsockopt(1, 33, 1 << 30),
    "SO_SNDBUFFORCE": lambda: sock.setsockopt(1, 32, 1 << 30),
    "SO_PRIORITY": lambda: sock.setsockopt(1, 12, 7),
})
