# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: fetches from 1.1.1.1, and asks 8.8.8.8 for a name
# matters: superradcompany/microsandbox#645 and TencentCloud/CubeSandbox#408: no network meant
#   some
# source: N7, N8
# expect: EAFNOSUPPORT
# profile: Snippet
import socket

from attempt import each

def connect(kind, address):
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.settimeout(1)
        sock.connect(address)
        sock.send(bytes(12))


each({
    "1.1.1.1": lambda: connect(socket.SOCK_STREAM, ("1.1.1.1", 443)),
    "8.8.8.8": lambda: connect(socket.SOCK_DGRAM, ("8.8.8.8", 53)),
})
