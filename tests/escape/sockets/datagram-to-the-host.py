# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: sends a UDP datagram to a server of the host
# matters: one datagram is enough to leak a secret
# expect: EAFNOSUPPORT
import socket

from attempt import canary, trying

address, _, port = canary("UDP").rpartition(":")
with trying("a datagram"):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"leak", (address, int(port)))
