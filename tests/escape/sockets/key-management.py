# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_KEY socket, of each type
# matters: the IPsec database
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 15, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
