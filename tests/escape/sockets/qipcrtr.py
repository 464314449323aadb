# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_QIPCRTR socket, of each type
# matters: modems of telephones, autoloaded
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 42, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
