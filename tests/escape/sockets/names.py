# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: looks names up, by the C library and by a datagram to each usual resolver
# matters: a label of a look-up carries 63 bytes out, through any number of firewalls
# expect: EAFNOSUPPORT
# profile: Snippet
import socket
import time

from attempt import each, through

start = time.monotonic()
for name in ("example.org", "kubernetes.default.svc.cluster.local", "metadata.google.internal"):
    try:
        through(f"{name} is {socket.getaddrinfo(name, 80)[0][4]}")
    except socket.gaierror:
        pass
if time.monotonic() - start > 5:
    raise SystemExit("it took long, as if somebody had been asked")


def ask(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(bytes(12), (address, 53))


each({address: lambda address=address: ask(address)
      for address in ("127.0.0.1", "127.0.0.53", "10.96.0.10", "8.8.8.8", "169.254.20.10")})
