# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: connects by TCP to a server of the host on 127.0.0.1
# matters: many services on a node's loopback ask for no password
# expect: EAFNOSUPPORT
# toolcall: ECONNREFUSED
import socket

from attempt import canary, trying

address, _, port = canary("TCP").rpartition(":")
with trying("a TCP connection"):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(1)
        sock.connect((address, int(port)))
