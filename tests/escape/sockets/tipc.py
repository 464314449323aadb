# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_TIPC socket, of each type
# matters: autoloaded, CVE-2021-43267 and CVE-2022-0435
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 30, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
