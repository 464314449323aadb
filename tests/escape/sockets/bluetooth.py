# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_BLUETOOTH socket, of each type
# matters: drivers reached from any namespace, with a history of remote holes
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 31, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
