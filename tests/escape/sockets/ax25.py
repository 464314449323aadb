# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_AX25 socket, of each type
# matters: amateur radio
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 3, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
