# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: sends a UDP datagram to a server of the host
# matters: one datagram is enough to leak a secret
# expect: EAFNOSUPPORT
# toolcall: ECONNREFUSED
import socket

from attempt import canary, trying

address, _, port = canary("UDP").rpartition(":")
with trying("a datagram"):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((address, int(port)))
    sock.send(b"leak")
    # Where nobody takes it, that is said; nobody answers it.
    sock.settimeout(2)
    try:
        sock.recv(1)
    except TimeoutError:
        pass
