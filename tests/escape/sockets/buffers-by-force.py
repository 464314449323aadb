# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: a socket buffer of a gigabyte
# matters: memory of the kernel
# expect: bounded
import socket

from attempt import refused, through

sock = socket.socket(socket.AF_UNIX)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
size = sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
if size > 64 << 20:
    through(f"a buffer of {size} bytes")
refused("bounded")
