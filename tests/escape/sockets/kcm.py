# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_KCM socket, of each type
# matters: multiplexes streams by BPF programs
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 41, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
