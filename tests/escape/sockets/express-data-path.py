# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_XDP socket, of each type
# matters: shares memory with network drivers
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 44, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
