# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_SMC socket, of each type
# matters: TCP over shared memory, young code
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 43, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
