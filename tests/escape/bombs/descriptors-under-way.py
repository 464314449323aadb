# SPDX-License-Identifier: Apache-2.0
# family: bombs
# tries: sends descriptors over sockets and closes them, so that they live only on the way
# matters: such descriptors are in no table, and their sockets in cycles that the kernel must
#   collect
# timeout: 2
# expect: DeadlineExceeded, OOMKilled
# memory: 128Mi
# cpu: 400m
# host: neighbour
import os
import socket
import time

held = []
while True:
    try:
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        left.setblocking(False)
        for _ in range(64):
            socket.send_fds(left, [b"x"], [left.fileno(), right.fileno()])
        held.append(os.dup(left.fileno()))
    except OSError:
        time.sleep(0.001)
    if len(held) > 500:
        for fd in held:
            os.close(fd)
        held.clear()
