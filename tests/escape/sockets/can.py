# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_CAN socket, of each type
# matters: car busses; CVE-2010-2959, CVE-2021-3609
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 29, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
