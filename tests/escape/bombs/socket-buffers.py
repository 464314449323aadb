# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: fills the buffers of as many sockets as it is given
# matters: what is under way in a socket is memory of the kernel
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import socket
import time

held = []
while True:
    try:
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError:
        time.sleep(0.001)
        continue
    held.append(pair)
    pair[0].setblocking(False)
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
    try:
        while True:
            pair[0].send(bytes(65536))
    except OSError:
        pass
