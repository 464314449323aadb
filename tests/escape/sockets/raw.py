# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: raw sockets of IPv4 and IPv6, ICMP, and the ping socket
# matters: forged packets, and all that others receive
# expect: EAFNOSUPPORT
# toolcall: ENOSYS, EPERM
from attempt import each, syscall

each({f"family {family} type {kind} protocol {protocol}":
      lambda family=family, kind=kind, protocol=protocol: syscall("socket", family, kind, protocol)
      for family, kind, protocol in ((2, 3, 1), (2, 3, 255), (2, 2, 1), (10, 3, 58), (10, 2, 58),
                                     (2, 3, 6), (2, 10, 0))})
