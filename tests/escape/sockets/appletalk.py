# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_APPLETALK socket, of each type
# matters: networks of the eighties, CVE-2023-51781
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 5, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
