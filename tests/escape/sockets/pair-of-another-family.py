# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: socketpair of AF_TIPC, AF_INET, AF_VSOCK and the rest
# matters: socketpair is the second way to a socket
# expect: EAFNOSUPPORT
from attempt import each, syscall

AF_UNIX = 1
each({f"family {family}": lambda family=family: syscall("socketpair", family, 1, 0, bytes(8))
      for family in range(64) if family != AF_UNIX})
