# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: connects by TCP to a server of the host on ::1 and on ::ffff:127.0.0.1
# matters: the second family is the one that is forgotten
# expect: EAFNOSUPPORT
# toolcall: ECONNREFUSED
import socket

from attempt import canary, each

port = int(canary("TCP").rpartition(":")[2])


def connect(address):
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        sock.settimeout(1)
        sock.connect((address, port))


each({address: lambda address=address: connect(address) for address in ("::1", "::ffff:127.0.0.1")})
