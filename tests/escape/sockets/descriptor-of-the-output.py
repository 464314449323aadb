# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: takes its output pipes for sockets, and asks for their peers
# matters: a socket to the supervisor would take descriptors and messages
# expect: ENOTSOCK
import socket

from attempt import each

each({f"descriptor {fd}": lambda fd=fd: socket.socket(fileno=fd).getpeername() for fd in (0, 1, 2)})
