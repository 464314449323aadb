# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_MCTP socket, of each type
# matters: management controllers of the machine
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 45, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
