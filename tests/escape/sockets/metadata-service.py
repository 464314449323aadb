# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: reads the credentials of the cloud's metadata service, by every cloud's address
# matters: one request gives the node's role
# expect: EAFNOSUPPORT
# toolcall: ECONNREFUSED
import socket

from attempt import each

ADDRESSES = ("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
             "169.254.170.2", "169.254.169.123")


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(1)
        sock.connect((address, 80))


tries = {address: lambda address=address: connect(socket.AF_INET, address)
         for address in ADDRESSES}
tries["fd00:ec2::254"] = lambda: connect(socket.AF_INET6, "fd00:ec2::254")
each(tries)
