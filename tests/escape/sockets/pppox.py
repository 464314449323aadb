# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: an AF_PPPOX socket, of each type
# matters: PPP and L2TP, CVE-2014-4943 and CVE-2016-10200
# expect: EAFNOSUPPORT
from attempt import each, syscall

each({f"type {kind}": lambda kind=kind: syscall("socket", 24, kind, 0)
      for kind in (1, 2, 3, 4, 5)})
