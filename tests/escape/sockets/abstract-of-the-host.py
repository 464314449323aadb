# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: connects to an abstract socket of the host by its name
# matters: abstract sockets have no file and no permissions: containerd-shim's (CVE-2020-15257)
#   was root's
# expect: ECONNREFUSED, EPERM, EACCES
import socket

from attempt import canary, each

each({
    "a connection": lambda: socket.socket(socket.AF_UNIX).connect("\0" + canary("ABSTRACT")),
    "a datagram": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(
        b"leak", "\0" + canary("ABSTRACT_DATAGRAM")),
})
